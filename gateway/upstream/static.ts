import type { Dispatcher } from 'undici';
import { RunError } from '../../runtime/core/errors.js';
import type { Upstream } from './upstream.js';

/** How long an address is passed over after it refused because it stops, or did not answer. */
const PASS_OVER_MS = 1000;

/**
 * Servers that are run by others, at the addresses of the catalogue, used in turn. One that stops or does not answer is
 * passed over for a moment, while there are others.
 * @param dispatcher connects to them; directly where absent
 */
export function staticUpstream(dispatcher?: Dispatcher): Upstream {
  const passedOver = new Map<string, number>();
  let turn = 0;

  function next(addresses: readonly string[]): string | undefined {
    const now = performance.now();
    const from = turn++;
    const inTurn = addresses.map((_, i) => addresses[(from + i) % addresses.length]!);
    const until = (url: string) => passedOver.get(url) ?? 0;
    // Where all are passed over, the one that failed the longest ago may be back.
    return inTurn.find((url) => until(url) <= now) ?? inTurn.toSorted((a, b) => until(a) - until(b))[0];
  }

  return {
    async acquire({ modelId, addresses }) {
      const url = next(addresses);
      if (url === undefined) throw new RunError('not_ready', `the catalogue has no address for ${modelId}`);
      const passOver = () => void passedOver.set(url, performance.now() + PASS_OVER_MS);
      const suspect = async () => passOver();
      return { url, dispatcher, cold: false, release: () => {}, stops: passOver, suspect };
    },
    close: async () => dispatcher?.destroy(),
  };
}
