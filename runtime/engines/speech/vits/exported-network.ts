import type { LoadRequest } from '../../../core/load-request.js';
import { createSingleRuns } from '../../batching/single-runs.js';
import { graphSource } from '../../sessions/graph-source.js';
import { requireOutputs } from '../../sessions/require-outputs.js';
import { openSessionPool } from '../../sessions/session-pool.js';
import { toFloat32 } from '../../sessions/tensors.js';
import type { VitsNetwork } from './network.js';

/**
 * One graph, as exporters make it: input_ids, attention_mask [1, letters], speaker_id if there are several voices -> waveform
 * [1, samples]. What it draws is drawn inside the graph.
 */
export async function openExportedVits(request: LoadRequest): Promise<VitsNetwork> {
  const pool = await openSessionPool(request, graphSource(request, 'model'));
  requireOutputs(pool.outputs, ['waveform']);
  const run = createSingleRuns(pool);
  const voice = pool.inputs.find(({ name }) => name === 'speaker_id');
  const isWanted = new Set(pool.inputs.map(({ name }) => name));
  return {
    ...{ hasVoices: voice !== undefined, usualVoice: 0, takesSeed: false, runs: pool.sessions.length },
    async speak({ ids, voice: id }, signal) {
      const row = (values: readonly number[], dims = [1, values.length]) => ({
        ...{ type: 'int64', data: BigInt64Array.from(values, BigInt), dims },
      });
      const feeds = {
        ...{ input_ids: row(ids), attention_mask: row(ids.map(() => 1)) },
        speaker_id: row([id], new Array<number>(voice?.shape.length ?? 0).fill(1)),
      };
      const wanted = Object.entries(feeds).filter(([name]) => isWanted.has(name));
      const { waveform } = await run(Object.fromEntries(wanted), signal);
      return toFloat32(waveform!);
    },
  };
}
