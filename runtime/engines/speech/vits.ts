import { join } from 'node:path';
import { RunError } from '../../core/errors.js';
import type { SpeechSynthesizer } from '../../core/handles/index.js';
import type { LoadRequest } from '../../core/load-request.js';
import { createSingleRuns } from '../batching/single-runs.js';
import { firstNumber, type Json } from '../repository/model-folder.js';
import { requireOutputs } from '../sessions/require-outputs.js';
import { openSessionPool } from '../sessions/session-pool.js';
import { toFloat32 } from '../sessions/tensors.js';
import { loadVitsTokenizer } from '../tokenizers/vits-tokenizer.js';
import { refuseOthers } from './options.js';

/** VitsModel: input_ids, attention_mask [1, letters] -> waveform [1, samples]. What it draws is drawn inside the graph. */
export async function openVits(request: LoadRequest, config: Json): Promise<SpeechSynthesizer> {
  const [tokenizer, pool] = await Promise.all([
    loadVitsTokenizer(request.dir),
    openSessionPool(request, join(request.dir, request.spec.graphs['model']!)),
  ]);
  requireOutputs(pool.outputs, ['waveform']);
  const run = createSingleRuns(pool);
  const names = pool.inputs.map(({ name }) => name);
  const rate = firstNumber(config, 'sampling_rate') ?? 16_000;
  return {
    async speak(text, options, signal) {
      refuseOthers(options, []);
      const ids = tokenizer.encode(text);
      if (ids.length < 2)
        throw new RunError('unprocessable', 'text: has no letter that this model can speak');
      const row = (values: number[]) => ({
        ...{ type: 'int64', data: BigInt64Array.from(values, BigInt), dims: [1, ids.length] },
      });
      const feeds = { input_ids: row(ids), attention_mask: row(ids.map(() => 1)) };
      const wanted = Object.entries(feeds).filter(([name]) => names.includes(name));
      const outputs = await run(Object.fromEntries(wanted), signal);
      return { samples: toFloat32(outputs['waveform']!), rate };
    },
  };
}
