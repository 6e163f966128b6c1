import path from 'node:path';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import type { Perplexity, WrittenGraph } from '../../core/spec.js';
import { correlation } from '../sessions/correlation.js';
import { openSession } from '../sessions/session.js';
import { perplexityOf } from './perplexity.js';
import { EDGES, PROBES, probeOf } from './probe.js';

/** The written graphs of a model, and the folder of their weights. */
export interface ProbedNetwork {
  graphs: readonly WrittenGraph[];
  folder: string;
}

/** Either how alike two networks compute, from -1 to 1, or why that was not measured. */
export type Likeness = { likeness: number; perplexity?: Perplexity } | { unmeasured: string };

type Outputs = Record<string, Tensor>;

/**
 * How alike two networks of the same graphs compute: the least correlation of an output over probes that are the same every
 * time; 1 is the same up to a factor. Both are given the same, for each graph what the plain one's earlier graphs made.
 * @param plain the one that counts as right
 * @param texts ids of tokens (./texts.ts), of which decoders tell how surprised they are; made up where there are none
 */
export async function likenessOf(
  plain: ProbedNetwork,
  packed: ProbedNetwork,
  texts?: readonly (readonly number[])[],
): Promise<Likeness> {
  let least = 1;
  let perplexity: Perplexity | undefined;
  // What earlier graphs gave, for each probe.
  const made: Outputs[] = Array.from({ length: PROBES }, () => ({}));
  for (const graph of plain.graphs) {
    const other = packed.graphs.find((one) => one.path === graph.path)!;
    const pair = { plain: [graph, plain.folder], packed: [other, packed.folder], made } as const;
    const tried = await compare({ ...pair, texts });
    // Graphs of codes have fewer rows than the tokenizer beside them.
    const found = typeof tried === 'string' && texts ? await compare({ ...pair, texts: undefined }) : tried;
    if (typeof found === 'string') return { unmeasured: `${graph.path} ${found}` };
    least = Math.min(least, found.likeness);
    perplexity = found.perplexity ?? perplexity;
  }
  // Machines differ in the digits behind.
  return { likeness: Number(least.toFixed(3)), ...(perplexity && { perplexity }) };
}

interface Compared {
  plain: readonly [WrittenGraph, folder: string];
  packed: readonly [WrittenGraph, folder: string];
  /** What earlier graphs gave, to which this one's outputs are added. */
  made: Outputs[];
  texts: readonly (readonly number[])[] | undefined;
}

interface Found {
  likeness: number;
  perplexity: Perplexity | undefined;
}

/** A text says what is in the way. */
async function compare({ plain, packed, made, texts }: Compared): Promise<Found | string> {
  const [first, second] = [await open(plain), await open(packed)];
  try {
    let problem = '';
    for (const edge of EDGES) {
      const pairs: [Outputs, Outputs][] = [];
      for (const [row, earlier] of made.entries()) {
        const feeds = probeOf(first, { row, edge, made: earlier, ids: texts?.[row] });
        if (typeof feeds === 'string') return feeds;
        const outputs = await first.run(feeds).catch((error: unknown) => firstLine(error));
        if (typeof outputs === 'string') {
          problem = `does not take made-up inputs: ${outputs}`;
          break;
        }
        pairs.push([outputs, await second.run(feeds)]);
      }
      if (pairs.length < made.length) continue;
      pairs.forEach(([outputs], row) => Object.assign(made[row]!, outputs));
      const likeness = Math.min(...answersOf(first).map((name) => alike(pairs, name)));
      return { likeness, perplexity: texts && (await perplexities(first, second, texts)) };
    }
    return problem;
  } finally {
    await first.release();
    await second.release();
  }
}

async function perplexities(
  plain: InferenceSession,
  packed: InferenceSession,
  texts: readonly (readonly number[])[],
): Promise<Perplexity | undefined> {
  const [before, after] = [await perplexityOf(plain, texts), await perplexityOf(packed, texts)];
  if (before === undefined || after === undefined) return undefined;
  return { plain: rounded(before), packed: rounded(after) };
}

/** Four digits. */
const rounded = (value: number): number => Number(value.toPrecision(4));

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0]!.slice(0, 200);

const open = ([graph, folder]: Compared['plain']): Promise<InferenceSession> =>
  openSession(
    { bytes: Buffer.from(graph.content, 'base64'), weightsIn: path.resolve(folder) },
    { device: 'cpu', threads: 1 },
  );

/** Keys and values are no answers, but where a graph gives nothing else. */
function answersOf({ outputNames }: InferenceSession): readonly string[] {
  const answers = outputNames.filter((name) => !name.startsWith('present.'));
  return answers.length > 0 ? answers : outputNames;
}

/** Over all probes at once, since an output may be a single number. */
function alike(pairs: readonly [Outputs, Outputs][], name: string): number {
  const all = (side: 0 | 1): Float32Array =>
    Float32Array.from(pairs.flatMap((pair) => Array.from(pair[side][name]!.data as Float32Array)));
  const [a, b] = [all(0), all(1)];
  return a.every((value, i) => value === b[i]) ? 1 : correlation(a, b);
}
