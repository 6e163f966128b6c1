import { CHAT_TASKS } from '../chat/blocks.js';
import type { Dialect, DialectRoute } from '../dialect.js';
import { EMBEDDING_TASKS } from '../embed.js';
import { sendPlainError } from '../plain-error.js';
import { generateBody } from './body.js';
import { chat, chatBody } from './chat.js';
import { embed, embedBody, embeddings, embeddingsBody } from './embed.js';
import { generate, GENERATE_TASKS } from './generate.js';
import { loaded, nameBody, pull, refuseChange, show, tags, version } from './models.js';

const post = (path: string, route: Omit<DialectRoute, 'method' | 'path'>): DialectRoute => ({
  ...{ method: 'POST', path: `/api/${path}` },
  ...route,
});

const get = (path: string, summary: string, handle: DialectRoute['handle']): DialectRoute => ({
  ...{ method: 'GET', path: `/api/${path}`, summary, handle },
});

/** Ollama's interface. */
export const ollama: Dialect = {
  name: 'ollama',
  title: 'Ollama',
  sendError: sendPlainError,
  prefixes: ['/api'],
  routes: [
    post('chat', { summary: 'Continue a conversation', tasks: CHAT_TASKS, body: chatBody, handle: chat }),
    post('generate', {
      ...{ summary: 'Answer a prompt', tasks: GENERATE_TASKS, body: generateBody, handle: generate },
    }),
    post('embed', { summary: 'Embed texts', tasks: EMBEDDING_TASKS, body: embedBody, handle: embed }),
    post('embeddings', {
      ...{ summary: 'Embed a text', tasks: EMBEDDING_TASKS, body: embeddingsBody, handle: embeddings },
    }),
    get('tags', 'List the models', tags),
    get('ps', 'List the models that are loaded', loaded),
    get('version', 'Version of the interface', version),
    post('show', { summary: 'Show a model', body: nameBody, handle: show }),
    post('pull', { summary: 'Say that a model is here', body: nameBody, handle: pull }),
    ...['push', 'create', 'copy'].map((path) =>
      post(path, { summary: 'Refused: the operator decides what models there are', handle: refuseChange }),
    ),
  ],
};
