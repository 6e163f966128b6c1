import type { Dialect } from '../dialect.js';
import { EMBEDDING_TASKS } from '../embed.js';
import { hfBody } from '../huggingface/read.js';
import { runInference } from '../huggingface/run.js';
import { sendPlainError } from '../plain-error.js';
import { embed, embedBody } from './embed.js';
import { embedAll, embedAllBody } from './embed-all.js';
import { embedSparse, embedSparseBody, SPARSE_TASKS } from './embed-sparse.js';
import { info } from './info.js';
import { predict, predictBody } from './predict.js';

/** Text Embeddings Inference's interface; its rerank shares a path with others (rerank/). */
export const textEmbeddings: Dialect = {
  name: 'tei',
  title: 'Text Embeddings Inference',
  sendError: sendPlainError,
  oneModel: true,
  routes: [
    {
      ...{ method: 'POST', path: '/embed', tasks: EMBEDDING_TASKS, body: embedBody, handle: embed },
      summary: 'Embed texts',
    },
    {
      ...{ method: 'POST', path: '/embed_all', tasks: EMBEDDING_TASKS, body: embedAllBody },
      ...{ summary: 'Vectors of all tokens of texts', handle: embedAll },
    },
    {
      ...{ method: 'POST', path: '/embed_sparse', tasks: SPARSE_TASKS, body: embedSparseBody },
      ...{ summary: 'Sparse vectors of texts over the vocabulary (SPLADE)', handle: embedSparse },
    },
    {
      ...{ method: 'POST', path: '/similarity', tasks: EMBEDDING_TASKS, body: hfBody },
      ...{ summary: 'Compare a sentence with others', handle: runInference },
    },
    {
      ...{ method: 'POST', path: '/predict', tasks: ['text-classification'], body: predictBody },
      ...{ summary: 'Classify texts, or pairs of texts', handle: predict },
    },
    { method: 'GET', path: '/info', summary: 'What the model is', handle: info },
  ],
};
