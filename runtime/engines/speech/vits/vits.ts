import { networkSizes } from '../../../core/network.js';
import { RunError } from '../../../core/errors.js';
import type { SampleSynthesizer } from '../../../core/handles/index.js';
import type { LoadRequest } from '../../../core/load-request.js';
import { firstNumber, type Json } from '../../repository/model-folder.js';
import { availableMemory } from '../../sessions/available-memory.js';
import { loadVitsTokenizer } from '../../tokenizers/vits-tokenizer.js';
import { refuseOthers } from '../options.js';
import { openExportedVits } from './exported-network.js';
import { requireRoom } from './network.js';
import { MOST_BYTES, vitsBytes } from './vits-memory.js';
import { voiceOf, voiceNames } from './voice-names.js';
import { openWrittenVits } from './written-network.js';

/** VitsModel: letters -> samples, over one graph of an exporter or two of our own. */
export async function openVits(request: LoadRequest, config: Json): Promise<SampleSynthesizer> {
  const isExport = 'model' in request.spec.graphs;
  const [tokenizer, network] = await Promise.all([
    loadVitsTokenizer(request.dir),
    isExport ? openExportedVits(request) : openWrittenVits(request, config),
  ]);
  const { hasVoices, usualVoice, takesSeed, runs } = network;
  const taken = [...(hasVoices ? ['speaker_id'] : []), ...(takesSeed ? ['seed'] : [])];
  const sizes = networkSizes(request.spec);
  const voices = hasVoices ? voiceNames(config, firstNumber(config, 'num_speakers') ?? 1) : [];
  const rate = firstNumber(config, 'sampling_rate') ?? 16_000;
  return {
    exampleOptions: takesSeed ? { seed: 1 } : {},
    voices,
    async speak(text, options, signal) {
      refuseOthers(options, taken);
      const ids = tokenizer.encode(text);
      if (ids.length === 0)
        throw new RunError('unprocessable', 'text: has no letter that this model can speak');
      requireRoom({
        ...{
          count: ids.length,
          bytesOf: (count) => vitsBytes(sizes, config, count),
          what: 'letters and blanks',
        },
        room: Math.min(MOST_BYTES, availableMemory(request.memory)) / runs,
      });
      const voice = voiceOf(options, voices) ?? usualVoice;
      const seed = options['seed'] == null ? undefined : Number(options['seed']);
      return { samples: await network.speak({ ids, voice, seed }, signal), rate };
    },
  };
}
