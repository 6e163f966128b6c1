import { CHAT_TASKS } from '../chat/blocks.js';
import { responsesBody } from '../responses/body.js';
import { createResponse } from '../responses/create.js';
import type { Dialect, DialectRoute } from '../dialect.js';
import { speak, speechBody } from './audio/speech.js';
import { SPEECH_TASKS, transcribe } from './audio/transcribe.js';
import { listSpeakers, listVoices, VOICE_TASKS } from './audio/voices.js';
import { chatBody, readChat } from './chat.js';
import { completionBody, readCompletion } from './completions.js';
import { embed, embeddingBody } from './embeddings.js';
import { sendOpenAiError } from './errors.js';
import { generateImages, imageBody, IMAGE_TASKS } from './images/generate.js';
import { type Endpoint, ENDPOINTS, listModels, showModel } from './models.js';
import { moderate, moderationBody } from './moderations.js';
import { textEndpoint } from './text-endpoint.js';

type PostRoute = Pick<DialectRoute, 'summary' | 'body' | 'handle'>;

const post = (endpoint: Endpoint, route: PostRoute): DialectRoute => ({
  ...{ method: 'POST', path: `/v1${endpoint}`, tasks: ENDPOINTS[endpoint] },
  ...route,
});

/** OpenAI's interface. */
export const openAi: Dialect = {
  name: 'openai',
  title: 'OpenAI',
  sendError: sendOpenAiError,
  prefixes: ['/v1'],
  routes: [
    post('/chat/completions', {
      ...{ summary: 'Continue a conversation', body: chatBody },
      handle: textEndpoint('/chat/completions', { body: chatBody, read: readChat }),
    }),
    post('/completions', {
      ...{ summary: 'Continue a text', body: completionBody },
      handle: textEndpoint('/completions', { body: completionBody, read: readCompletion }),
    }),
    {
      ...{ method: 'POST', path: '/v1/responses', tasks: CHAT_TASKS, body: responsesBody },
      ...{ summary: 'Answer a conversation in items', handle: createResponse },
    },
    {
      ...{ method: 'POST', path: '/v1/audio/transcriptions', tasks: SPEECH_TASKS },
      ...{ summary: 'Transcribe audio (multipart/form-data)', handle: transcribe('transcribe') },
    },
    {
      ...{ method: 'POST', path: '/v1/audio/translations', tasks: SPEECH_TASKS },
      ...{ summary: 'Transcribe audio into English (multipart/form-data)', handle: transcribe('translate') },
    },
    {
      ...{ method: 'POST', path: '/v1/audio/speech', tasks: VOICE_TASKS, body: speechBody },
      ...{ summary: 'Speak a text', handle: speak },
    },
    {
      ...{ method: 'GET', path: '/v1/audio/voices', tasks: VOICE_TASKS },
      ...{ summary: 'List the voices of a model', handle: listVoices },
    },
    {
      ...{ method: 'GET', path: '/v1/audio/models', tasks: VOICE_TASKS },
      ...{ summary: 'List the models that speak', handle: listSpeakers },
    },
    {
      ...{ method: 'POST', path: '/v1/images/generations', tasks: IMAGE_TASKS, body: imageBody },
      ...{ summary: 'Make images of a prompt', handle: generateImages },
    },
    post('/embeddings', { summary: 'Embed texts', body: embeddingBody, handle: embed }),
    post('/moderations', { summary: 'Flag texts', body: moderationBody, handle: moderate }),
    { method: 'GET', path: '/v1/models', summary: 'List the models', handle: listModels },
    { method: 'GET', path: '/v1/models/*id', summary: 'Show a model', handle: showModel },
  ],
};
