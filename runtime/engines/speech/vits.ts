import { RunError } from '../../core/errors.js';
import type { SoundOptions, SpeechSynthesizer } from '../../core/handles/index.js';
import type { LoadRequest } from '../../core/load-request.js';
import { largestWithin } from '../../core/run-memory.js';
import { createSingleRuns } from '../batching/single-runs.js';
import { firstNumber, type Json } from '../repository/model-folder.js';
import { graphSource } from '../sessions/graph-source.js';
import { availableMemory } from '../sessions/available-memory.js';
import { requireOutputs } from '../sessions/require-outputs.js';
import { openSessionPool } from '../sessions/session-pool.js';
import { type Port, type TensorLike, toFloat32 } from '../sessions/tensors.js';
import { loadVitsTokenizer } from '../tokenizers/vits-tokenizer.js';
import { refuseOthers } from './options.js';
import { vitsBytes } from './vits-memory.js';

/**
 * VitsModel: input_ids, attention_mask [1, letters], speaker_id if there are several voices -> waveform [1, samples]. What it
 * draws is drawn inside the graph.
 */
export async function openVits(request: LoadRequest, config: Json): Promise<SpeechSynthesizer> {
  const [tokenizer, pool] = await Promise.all([
    loadVitsTokenizer(request.dir),
    openSessionPool(request, graphSource(request, 'model')),
  ]);
  requireOutputs(pool.outputs, ['waveform']);
  const run = createSingleRuns(pool);
  const names = pool.inputs.map(({ name }) => name);
  const hasVoices = names.includes('speaker_id');
  const voices = { count: firstNumber(config, 'num_speakers') ?? 1, rank: rankOf(pool.inputs) };
  const rate = firstNumber(config, 'sampling_rate') ?? 16_000;
  return {
    exampleOptions: {},
    async speak(text, options, signal) {
      refuseOthers(options, hasVoices ? ['speaker_id'] : []);
      const ids = tokenizer.encode(text);
      if (ids.length === 0)
        throw new RunError('unprocessable', 'text: has no letter that this model can speak');
      requireRoom(
        config,
        ids.length,
        Math.min(MOST_BYTES, availableMemory(request.memory)) / pool.sessions.length,
      );
      const row = (values: number[]) => ({
        ...{ type: 'int64', data: BigInt64Array.from(values, BigInt), dims: [1, ids.length] },
      });
      const feeds = {
        ...{ input_ids: row(ids), attention_mask: row(ids.map(() => 1)) },
        ...(hasVoices ? { speaker_id: voiceOf(options, voices) } : {}),
      };
      const wanted = Object.entries(feeds).filter(([name]) => names.includes(name));
      const outputs = await run(Object.fromEntries(wanted), signal);
      return { samples: toFloat32(outputs['waveform']!), rate };
    },
  };
}

/** Bytes of a run past which a text is refused where memory has no limit. */
const MOST_BYTES = 2 ** 32;

function requireRoom(config: Json, letters: number, room: number): void {
  const bytesOf = (count: number) => vitsBytes(config, count);
  if (bytesOf(letters) <= room) return;
  throw new RunError(
    'unprocessable',
    `text: is ${letters} letters and blanks to this model, and there is memory for ${largestWithin(room, letters, bytesOf)}: ` +
      'speak it in parts, or give the server more memory',
  );
}

const rankOf = (inputs: readonly Port[]): number =>
  inputs.find(({ name }) => name === 'speaker_id')?.shape.length ?? 0;

/** @throws RunError 422 for a voice that the model does not have */
function voiceOf(options: SoundOptions, { count, rank }: { count: number; rank: number }): TensorLike {
  const id = Number(options['speaker_id'] ?? 0);
  if (id < count)
    return { type: 'int64', data: BigInt64Array.of(BigInt(id)), dims: new Array<number>(rank).fill(1) };
  throw new RunError('unprocessable', `params.speaker_id: the model has ${count} voices, from 0 on`);
}
