import type { Dialect, DialectRoute } from '../dialect.js';
import { EMBEDDING_TASKS } from '../embed.js';
import { sendMessageError } from '../plain-error.js';
import { cohereEmbed, cohereEmbedBody } from './cohere-embed.js';
import { documentsBody, rerank, score, scoreBody } from './rerank.js';
import { SCORING_TASKS } from './score.js';

const rerankAt = (path: string): DialectRoute => ({
  ...{ method: 'POST', path, tasks: SCORING_TASKS, body: documentsBody, handle: rerank },
  summary: 'Rank documents by how well they go with a query',
});

const scoreAt = (path: string): DialectRoute => ({
  ...{ method: 'POST', path, tasks: SCORING_TASKS, body: scoreBody, handle: score },
  summary: 'Score pairs of texts',
});

/** Reranking as Cohere, Jina and vLLM have it (Infinity's answers differ: ../infinity/), and as Text Embeddings Inference has it at the same path. */
export const reranking: Dialect = {
  name: 'rerank',
  title: 'Cohere, Jina, vLLM',
  sendError: sendMessageError,
  routes: [
    ...['/rerank', '/v1/rerank', '/v2/rerank'].map(rerankAt),
    ...['/score', '/v1/score'].map(scoreAt),
    {
      ...{ method: 'POST', path: '/v2/embed', tasks: EMBEDDING_TASKS, body: cohereEmbedBody },
      ...{ summary: 'Embed texts', handle: cohereEmbed },
    },
  ],
};
