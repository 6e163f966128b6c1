import type { Dialect, DialectRoute } from '../dialect.js';
import { sendMessageError } from '../plain-error.js';
import {
  decode,
  decodeBody,
  detokenize,
  detokenizeBody,
  tokenize,
  tokenizeBody,
  tokenizerInfo,
  TOKENIZER_TASKS,
} from './tokenize.js';

const post = (path: string, route: Pick<DialectRoute, 'summary' | 'body' | 'handle'>): DialectRoute => ({
  ...{ method: 'POST', path, tasks: TOKENIZER_TASKS },
  ...route,
});

/** The model's tokenizer, as vLLM and Text Embeddings Inference offer it at the same paths. */
export const tokens: Dialect = {
  name: 'tokens',
  title: 'vLLM, Text Embeddings Inference',
  sendError: sendMessageError,
  routes: [
    post('/tokenize', { summary: 'Tokens of a text', body: tokenizeBody, handle: tokenize }),
    post('/detokenize', { summary: 'The text of tokens', body: detokenizeBody, handle: detokenize }),
    {
      ...{ method: 'GET', path: '/tokenizer_info', tasks: TOKENIZER_TASKS },
      ...{ summary: 'What the tokenizer says of itself', handle: tokenizerInfo },
    },
    post('/decode', { summary: 'The texts of several lists of tokens', body: decodeBody, handle: decode }),
  ],
};
