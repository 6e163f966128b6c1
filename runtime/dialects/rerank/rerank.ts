import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { RunError } from '../../core/errors.js';
import { readJsonBody } from '../../wire/json-body.js';
import { sendJson } from '../../wire/respond.js';
import type { DialectCall } from '../dialect.js';
import { hint, modelField, neutral, readFields, tellHints } from '../fields.js';
import type { ServedModel, TokenCounts } from '../host.js';
import { readRequest } from '../read-request.js';
import { requireModel } from '../require-model.js';
import { cutting } from '../tei/embed.js';
import { MAX_PAIRS, ranking, scorePairs, SCORING_TASKS } from './score.js';

const document = z.union([z.string(), z.looseObject({ text: z.string() })]);

const many = <T extends z.ZodType>(item: T) => z.array(item).min(1).max(MAX_PAIRS);

/** The shape of Cohere, Jina and vLLM; Infinity's is a part of it. */
export const documentsBody = z.strictObject({
  model: modelField,
  query: z.string(),
  documents: many(document),
  top_n: z.int().min(1).nullish().describe('results in the answer; all by default'),
  return_documents: z.boolean().nullish(),
  max_tokens_per_doc: hint(),
  max_chunks_per_doc: neutral([1], 'texts are read whole, as far as the model reads'),
  rank_fields: neutral([['text']], 'the text is ranked'),
  truncation: neutral([true], 'long texts are always cut'),
  raw_scores: z.boolean().nullish().describe('the model’s own scores, without a sigmoid'),
  truncate_prompt_tokens: neutral([-1], 'texts are cut at the model’s limit'),
  priority: hint(),
  user: hint(),
});

/** Text Embeddings Inference's shape. */
export const textsBody = z.strictObject({
  query: z.string(),
  texts: many(z.string()),
  raw_scores: z.boolean().nullish().describe('the model’s own scores, without a sigmoid'),
  return_text: z.boolean().nullish(),
  ...cutting,
});

/** POST rerank, in the shape that the fields of the body tell. */
export async function rerank(call: DialectCall): Promise<void> {
  const { request, response, host } = call;
  const { json } = await readJsonBody(request, response, host.bodyOptions(SCORING_TASKS, true));
  if (Object.hasOwn(Object(json) as object, 'texts')) return rerankTexts(call, json);
  const given = readFields(documentsBody, json);
  tellHints(response, documentsBody.shape, given);
  const model = requireModel(host, given.model);
  await rankDocuments(call, model, given, ({ ranked, tokens }) => {
    const results = ranked.map(({ index, score, text }) => ({
      ...{ index, relevance_score: score },
      ...(given.return_documents ? { document: { text } } : {}),
    }));
    const meta = { api_version: { version: '2' }, billed_units: { search_units: 1 } };
    const usage = tokens && { prompt_tokens: tokens.in, total_tokens: tokens.in };
    sendJson(response, 200, JSON.stringify({ id: randomUUID(), model: model.modelId, results, usage, meta }));
  });
}

export interface Ranking {
  /** The best documents first, as many as were wanted. */
  ranked: { index: number; score: number; text: string }[];
  tokens: TokenCounts | undefined;
}

/** Scores the documents of a request against its query, and gives them to `send`. */
export async function rankDocuments(
  call: DialectCall,
  model: ServedModel,
  { query, documents, top_n, raw_scores }: z.output<typeof documentsBody>,
  send: (ranking: Ranking) => void,
): Promise<void> {
  const texts = documents.map((one) => (typeof one === 'string' ? one : one.text));
  const pairs = texts.map((text) => [query, text] as const);
  const names = { text: 'query', text_pair: 'documents' };
  await scorePairs(call, { model, pairs, raw: raw_scores ?? false, names }, ({ scores, tokens }) => {
    const best = ranking(scores).slice(0, top_n ?? scores.length);
    send({ ranked: best.map((index) => ({ index, score: scores[index]!, text: texts[index]! })), tokens });
  });
}

async function rerankTexts(call: DialectCall, json: unknown): Promise<void> {
  const { query, texts, raw_scores, return_text, truncate } = readFields(textsBody, json);
  const model = requireModel(call.host, undefined);
  const pairs = texts.map((text) => [query, text] as const);
  const names = { text: 'query', text_pair: 'texts' };
  await scorePairs(call, { model, pairs, raw: raw_scores ?? false, truncate, names }, ({ scores }) => {
    const rows = ranking(scores).map((index) => ({
      ...{ index, score: scores[index] },
      ...(return_text ? { text: texts[index] } : {}),
    }));
    sendJson(call.response, 200, JSON.stringify(rows));
  });
}

const texts = z.union([many(z.string()), z.string()]);

/** vLLM's POST score. */
export const scoreBody = z.strictObject({
  model: modelField,
  text_1: texts,
  text_2: texts,
  truncate_prompt_tokens: neutral([-1], 'texts are cut at the model’s limit'),
  priority: hint(),
  user: hint(),
});

export async function score(call: DialectCall): Promise<void> {
  const { response, host } = call;
  const given = await readRequest(call, scoreBody, { tasks: SCORING_TASKS, batch: true });
  const model = requireModel(host, given.model);
  const pairs = pairsOf([given.text_1].flat(), [given.text_2].flat());
  const names = { text: 'text_1', text_pair: 'text_2' };
  await scorePairs(call, { model, pairs, raw: false, names }, ({ scores, tokens }) => {
    const data = scores.map((value, index) => ({ index, object: 'score', score: value }));
    const usage = { prompt_tokens: tokens?.in ?? 0, total_tokens: tokens?.in ?? 0, completion_tokens: 0 };
    const head = { id: `score-${randomUUID()}`, object: 'list', created: Math.floor(Date.now() / 1000) };
    sendJson(response, 200, JSON.stringify({ ...head, model: model.modelId, data, usage }));
  });
}

/** One text against many, or as many against as many. */
function pairsOf(first: readonly string[], second: readonly string[]): (readonly [string, string])[] {
  if (first.length !== 1 && first.length !== second.length)
    throw new RunError(
      'invalid_input',
      `text_1: must be one text, or as many as text_2 (${second.length}); there are ${first.length}`,
    );
  return second.map((text, i) => [first.length === 1 ? first[0]! : first[i]!, text] as const);
}
