import { requiredGigabytes } from '../catalog/entries.js';
import type { ModelEntry } from '../catalog/entry.js';
import { readServerMemory } from './server-status.js';
import type { ServerInstance, Launcher } from './upstream.js';

/**
 * Wraps a launcher to measure servers whose memory was assumed, after they have loaded.
 * @param onMeasured receives GB, headroom for several requests included
 */
export function measuredLauncher(
  launcher: Launcher,
  onMeasured: (modelId: string, gigabytes: number) => void,
): Launcher {
  const measure = async (entry: ModelEntry, instance: ServerInstance): Promise<ServerInstance> => {
    if (entry.figures !== 'assumed') return instance;
    try {
      const gigabytes = requiredGigabytes(await readServerMemory(instance.url));
      onMeasured(entry.modelId, gigabytes);
      return { ...instance, gigabytes };
    } catch (error) {
      // The caller never gets this instance, so it must be stopped here.
      await instance.stop();
      throw error;
    }
  };
  return {
    ...launcher,
    launch: async (entry, signal) => measure(entry, await launcher.launch(entry, signal)),
  };
}
