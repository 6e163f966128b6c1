import { requiredGigabytes } from '../catalog/entries.js';
import type { ModelEntry } from '../catalog/entry.js';
import { readServerMemory } from './server-status.js';
import type { ServerInstance, Launcher } from './upstream.js';

/**
 * Measures the servers of models whose memory nobody knew, when they have loaded.
 * @param tell receives GB, with room for several requests
 */
export function measuredLauncher(
  launcher: Launcher,
  tell: (modelId: string, gigabytes: number) => void,
): Launcher {
  const measure = async (entry: ModelEntry, instance: ServerInstance): Promise<ServerInstance> => {
    if (entry.figures !== 'assumed') return instance;
    try {
      const gigabytes = requiredGigabytes(await readServerMemory(instance.url));
      tell(entry.modelId, gigabytes);
      return { ...instance, gigabytes };
    } catch (error) {
      // Nobody knows of it yet, and nobody else would end it.
      await instance.stop();
      throw error;
    }
  };
  return {
    ...launcher,
    launch: async (entry, signal) => measure(entry, await launcher.launch(entry, signal)),
  };
}
