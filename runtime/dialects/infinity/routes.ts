import { sendJson } from '../../wire/respond.js';
import type { Dialect, DialectCall, DialectRoute } from '../dialect.js';
import { EMBEDDING_TASKS } from '../embed.js';
import { sendOpenAiError } from '../openai/errors.js';
import { documentsBody } from '../rerank/rerank.js';
import { SCORING_TASKS } from '../rerank/score.js';
import { classify, classifyBody, CLASSIFYING_TASKS } from './classify.js';
import { embed, infinityEmbeddingBody } from './embeddings.js';
import { listModels } from './models.js';
import { rerank } from './rerank.js';

/** Infinity's clients read a number there. */
function health({ response, host }: DialectCall): void {
  sendJson(response, host.ready() ? 200 : 503, JSON.stringify({ unix: Date.now() / 1000 }));
}

const at = (path: string, route: Omit<DialectRoute, 'method' | 'path'>): DialectRoute => ({
  ...{ method: route.body ? 'POST' : 'GET', path: `/infinity${path}` },
  ...route,
});

/**
 * Infinity's interface, below a path of its own: its clients send the same rerank as those of Cohere, and read another answer.
 */
export const infinity: Dialect = {
  name: 'infinity',
  title: 'Infinity',
  sendError: sendOpenAiError,
  prefixes: ['/infinity'],
  routes: [
    at('/rerank', {
      ...{ tasks: SCORING_TASKS, body: documentsBody, handle: rerank },
      summary: 'Rank documents by how well they go with a query',
    }),
    at('/embeddings', {
      ...{ tasks: EMBEDDING_TASKS, body: infinityEmbeddingBody, handle: embed },
      summary: 'Embed texts',
    }),
    at('/classify', {
      ...{ tasks: CLASSIFYING_TASKS, body: classifyBody, handle: classify },
      summary: 'Classify texts',
    }),
    at('/models', { summary: 'List the models', handle: listModels }),
    at('/health', { summary: 'Ready to answer', handle: health, open: true }),
  ],
};
