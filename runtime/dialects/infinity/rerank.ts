import { sendJson } from '../../wire/respond.js';
import type { DialectCall } from '../dialect.js';
import { readRequest } from '../read-request.js';
import { documentsBody, rankDocuments } from '../rerank/rerank.js';
import { SCORING_TASKS } from '../rerank/score.js';
import { requireModel } from '../require-model.js';
import { answerOf } from './answer.js';

/** POST rerank. A document of an answer is a text, where Cohere's is an object. */
export async function rerank(call: DialectCall): Promise<void> {
  const given = await readRequest(call, documentsBody, { tasks: SCORING_TASKS, batch: true });
  const model = requireModel(call.host, given.model);
  await rankDocuments(call, model, given, ({ ranked, tokens }) => {
    const results = ranked.map(({ index, score, text }) => ({
      ...{ index, relevance_score: score },
      ...(given.return_documents ? { document: text } : {}),
    }));
    sendJson(call.response, 200, JSON.stringify({ ...answerOf('rerank', model, tokens), results }));
  });
}
