import type { Dispatcher } from 'undici';
import { RunError } from '../../runtime/core/errors.js';
import type { Upstream } from './upstream.js';

/**
 * Servers that are run by others, at the addresses of the catalogue, used in turn.
 * @param dispatcher connects to them; directly where absent
 */
export function staticUpstream(dispatcher?: Dispatcher): Upstream {
  let turn = 0;
  return {
    async acquire({ modelId, addresses }) {
      const url = addresses[turn++ % addresses.length];
      if (url === undefined) throw new RunError('not_ready', `the catalogue has no address for ${modelId}`);
      return { url, dispatcher, cold: false, release: () => {} };
    },
    close: async () => dispatcher?.destroy(),
  };
}
