import { CHAT_TASKS } from '../chat/blocks.js';
import type { Dialect } from '../dialect.js';
import { countBody, messagesBody } from './body.js';
import { countMessage } from './count.js';
import { sendAnthropicError } from './errors.js';
import { createMessage } from './messages.js';

/** Anthropic's interface. */
export const anthropic: Dialect = {
  name: 'anthropic',
  title: 'Anthropic',
  sendError: sendAnthropicError,
  routes: [
    {
      ...{ method: 'POST', path: '/v1/messages', tasks: CHAT_TASKS, body: messagesBody },
      ...{ summary: 'Continue a conversation', handle: createMessage },
    },
    {
      ...{ method: 'POST', path: '/v1/messages/count_tokens', tasks: CHAT_TASKS, body: countBody },
      ...{ summary: 'Count the tokens of a conversation', handle: countMessage },
    },
  ],
};
