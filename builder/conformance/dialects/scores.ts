import * as z from 'zod';
import { demand, outputOf, post, type ServerUnderTest, shown } from '../server.js';
import { jsonOf, type Recipe, requireSame, sameAsRun } from './recipe.js';
import { cosineOf } from './vectors.js';

const ROWS = z.array(z.object({ label: z.string(), score: z.number().nullable() })).min(1);

/** All labels of the example's text, the likeliest first. */
function labelled(
  sent: (server: ServerUnderTest, text: string) => Record<string, unknown>,
  rows: (json: unknown) => unknown,
): Recipe {
  return (server, path) => {
    const text = String(server.golden['text']);
    return sameAsRun(server, {
      run: { text, params: { top_k: null } },
      ask: () => post(server, sent(server, text), { path }),
      found: (answer) => rows(jsonOf(answer)),
    });
  };
}

export const predict = labelled(
  (_, inputs) => ({ inputs }),
  (json) => json,
);

export const classify = labelled(
  ({ described }, text) => ({ model: described.model, input: [text] }),
  (json) => z.object({ data: z.array(z.unknown()).length(1) }).parse(json).data[0],
);

/** POST moderations: the scores of all labels, one of which flags the text whatever its score. */
export const moderate: Recipe = async (server, path) => {
  const text = String(server.golden['text']);
  const own = await post(server, { text, params: { top_k: null, truncation: false } });
  const rows = ROWS.parse(outputOf(own));
  const body = { model: server.described.model, input: text, flags: { [rows[0]!.label]: 0 } };
  const [result] = MODERATION.parse(jsonOf(await post(server, body, { path }))).results;
  const wanted = Object.fromEntries(rows.map(({ label, score }) => [label, score]));
  requireSame(result!.category_scores, wanted);
  demand(result!.flagged, 'a score above its bound does not flag the text');
  return `the scores of POST /run for ${rows.length} labels`;
};

const MODERATION = z.object({
  results: z
    .array(z.object({ flagged: z.boolean(), category_scores: z.record(z.string(), z.unknown()) }))
    .min(1),
});

export const embedSparse: Recipe = (server, path) => {
  const text = String(server.golden['text']);
  return sameAsRun(server, {
    run: { text, params: { sparse: true } },
    ask: () => post(server, { inputs: text }, { path }),
    found: (answer) => z.array(z.unknown()).length(1).parse(jsonOf(answer))[0],
  });
};

/** Query and documents of which one is the query itself. */
const PAIR = ['How tall is the tower?', 'The tower is 330 metres tall.'] as const;

/** How well the texts go together by POST /run; undefined for a model that can't say it. */
async function pairScore(server: ServerUnderTest): Promise<number | undefined> {
  if (server.described.task !== 'text-classification') return cosineOf(server, PAIR);
  const params = { text_pair: PAIR[1], top_k: null, function_to_apply: 'sigmoid' };
  const answer = await post(server, { text: PAIR[0], params });
  const rows = ROWS.parse(outputOf(answer));
  return rows.length === 1 ? rows[0]!.score! : undefined;
}

function scoring(body: Record<string, unknown>, read: z.ZodType<number>): Recipe {
  return async (server, path) => {
    const wanted = await pairScore(server);
    const answer = await post(server, { model: server.described.model, ...body }, { path });
    if (wanted === undefined) {
      demand(answer.status === 400 || answer.status === 422, `expected a refusal: ${shown(answer)}`);
      return `refused, as a model with several labels ranks nothing: ${answer.status}`;
    }
    const found = read.parse(jsonOf(answer));
    requireSame(found, wanted);
    return `the score of POST /run: ${found}`;
  };
}

export const rerank = scoring(
  { query: PAIR[0], documents: [PAIR[1]] },
  z
    .object({ results: z.array(z.object({ index: z.literal(0), relevance_score: z.number() })).length(1) })
    .transform(({ results }) => results[0]!.relevance_score),
);

export const score = scoring(
  { text_1: PAIR[0], text_2: PAIR[1] },
  z
    .object({ data: z.array(z.object({ index: z.literal(0), score: z.number() })).length(1) })
    .transform(({ data }) => data[0]!.score),
);
