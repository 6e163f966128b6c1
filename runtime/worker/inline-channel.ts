import type { OpenChannel } from './channel.js';
import { createEngineHost } from './host.js';

/** The same protocol inside this process, for tests and debugging (INLINE=1). `kill` only ignores the engine. */
export function inlineChannel(): OpenChannel {
  return ({ onMessage, onExit }) => {
    let open = true;
    const host = createEngineHost((message) => {
      if (open) setImmediate(onMessage, message);
    });
    return {
      pid: process.pid,
      send: (message) => host.receive(message),
      kill() {
        open = false;
        setImmediate(onExit, 'was stopped');
      },
    };
  };
}
