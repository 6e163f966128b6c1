import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { RunError } from '../../runtime/core/errors.js';
import type { ModelEntry } from '../catalog/entry.js';
import { createLimits, type RateLimits } from '../limits/limits.js';
import type { Lease, Upstream } from '../upstream/upstream.js';
import { translatingClient } from './client.js';
import { createProvider, type Provider } from './provider.js';
import type { Remote } from './remote.js';
import { passingClient } from './slipway.js';

export interface RemoteUpstreamOptions {
  /** Connects to providers: opened with the first call, closed with the upstream. */
  openDispatcher: () => Dispatcher;
  /** Whether the catalogue still has the model, and others serve it; what is kept of all others is forgotten. */
  isRemote: (modelId: string) => boolean;
  log: (line: string) => void;
  /** Longest time that a call waits while a provider is busy. */
  mostWaitMs?: number;
}

interface Served {
  remote: Remote;
  provider: Provider;
  limits: RateLimits;
}

/** Models of the catalogue that others serve. Nothing runs here; what is kept of each is how it failed, and its limits. */
export function remoteUpstream(options: RemoteUpstreamOptions): Upstream {
  const all = new Map<string, Served>();
  let dispatcher: Dispatcher | undefined;

  function servedOf(modelId: string, remote: Remote): Served {
    const known = all.get(modelId);
    // The catalogue is read again with each change of its file.
    if (known && (known.remote === remote || JSON.stringify(known.remote) === JSON.stringify(remote)))
      return known;
    dispatcher ??= options.openDispatcher();
    const provider = createProvider(modelId, remote, { ...options, dispatcher });
    const served = { remote, provider, limits: limitsOf(remote) };
    for (const id of all.keys()) if (!options.isRemote(id)) all.delete(id);
    all.set(modelId, served);
    return served;
  }

  return {
    async acquire({ modelId, task, remote }): Promise<Lease> {
      if (!remote) throw new RunError('not_ready', `the catalogue has no provider for ${modelId}`);
      const { provider, limits } = servedOf(modelId, remote);
      const { release } = await limits.enter(modelId);
      const open = new Set<Readable>();
      const opened = (body: Readable) => {
        open.add(body);
        body.once('close', () => open.delete(body));
      };
      const createClient = remote.kind === 'slipway' ? passingClient : translatingClient;
      return {
        ...{ url: remote.url, cold: false, client: createClient(provider, task, opened) },
        release() {
          release();
          // Answers that nobody has read to their end.
          for (const body of open) body.destroy();
        },
      };
    },
    close: async () => dispatcher?.destroy(),
  };
}

function limitsOf({ limits: { concurrent, perMinute = Infinity } }: Remote): RateLimits {
  return createLimits({ calls: Math.min(perMinute, 1e9), seconds: 60, concurrent });
}

/** An upstream that has both: servers of its own, and models that others serve. */
export function withRemotes(own: Upstream, remotes: Upstream): Upstream {
  return {
    ...own,
    acquire: (entry: ModelEntry, signal) => (entry.remote ? remotes : own).acquire(entry, signal),
    async close() {
      await Promise.all([own.close(), remotes.close()]);
    },
  };
}
