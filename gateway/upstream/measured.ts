import type { ModelEntry } from '../catalog/entry.js';
import { memoryOf } from './server-status.js';
import type { Instance, Launcher } from './upstream.js';

/** What several requests at a time take beyond one. */
export const HEADROOM = 1.3;

/**
 * Measures the servers of models whose memory nobody knew, when they have loaded.
 * @param tell receives GB, with room for several requests
 */
export function measuredLauncher(
  launcher: Launcher,
  tell: (modelId: string, gigabytes: number) => void,
): Launcher {
  const measure = async (entry: ModelEntry, instance: Instance): Promise<Instance> => {
    if (entry.figures !== 'assumed') return instance;
    const gigabytes = Math.ceil((await memoryOf(instance.url)) * HEADROOM * 1000) / 1000;
    tell(entry.modelId, gigabytes);
    return { ...instance, gigabytes };
  };
  return {
    ...launcher,
    launch: async (entry, signal) => measure(entry, await launcher.launch(entry, signal)),
  };
}
