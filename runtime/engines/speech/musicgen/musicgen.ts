import { networkSizes } from '../../../core/network.js';
import { RunError } from '../../../core/errors.js';
import type { SampleSynthesizer, AudioOptions } from '../../../core/handles/index.js';
import type { LoadRequest } from '../../../core/load-request.js';
import { createCacheBudget } from '../../generation/decoding/cache/cache-budget.js';
import { planDecoderMemory } from '../../generation/decoding/cache/decoder-memory.js';
import { decoderStartToken } from '../../generation/generate-from-source.js';
import { type GenerationSettings, mergeSettings } from '../../generation/settings/settings.js';
import { firstNumber, type Json, readOptionalJson } from '../../repository/model-folder.js';
import { openCachedDecoder } from '../cached-decoder.js';
import { refuseOthers } from '../options.js';
import { openTextStates } from '../text-states.js';
import { openCodec } from './codec.js';
import { composeCodes } from './compose.js';
import { requireFrames } from './frames.js';

const TAKEN = [
  ...['max_new_tokens', 'max_length', 'guidance_scale', 'do_sample', 'seed'],
  ...['temperature', 'top_k', 'top_p', 'min_p', 'typical_p'],
];

/** MusicgenDecoderConfig */
const DEFAULTS = { positions: 2048, codebooks: 4 };

/** MusicgenForConditionalGeneration: a text encoder, a decoder of codes, a codec that makes audio of them. */
export async function openMusicgen(request: LoadRequest, config: Json): Promise<SampleSynthesizer> {
  const [decoding, codes] = ['decoder', 'audio_encoder'].map((part) => (config[part] ?? {}) as Json) as [
    Json,
    Json,
  ];
  const channels = firstNumber(decoding, 'audio_channels') ?? 1;
  if (channels !== 1)
    throw new RunError('not_ready', `the model makes audio of ${channels} channels; only one is supported`);
  const positions = firstNumber(decoding, 'max_position_embeddings') ?? DEFAULTS.positions;
  const [generation, encoder, decoder, codec] = await Promise.all([
    readOptionalJson(request.dir, 'generation_config.json'),
    openTextStates(request, { role: 'text_encoder', sizes: networkSizes(request.spec, 'text_encoder') }),
    openCachedDecoder(request, decoding, {
      inputs: ['input_ids', 'encoder_hidden_states', 'encoder_attention_mask'],
      outputs: ['logits'],
    }),
    openCodec(request, codes),
  ]);
  const repository = generation ?? config;
  const { self, cross } = decoder.bytes;
  const sizes = {
    network: networkSizes(request.spec, 'decoder'),
    contextLength: positions,
    bytesPerToken: self + cross,
    chunk: 1,
  };
  const memory = planDecoderMemory(request, sizes);
  const budget = createCacheBudget(memory.cacheBytes, memory.cacheLimit);
  const codebooks = firstNumber(decoding, 'num_codebooks') ?? DEFAULTS.codebooks;
  const pad = decoderStartToken({}, repository);
  return {
    exampleOptions: { max_new_tokens: 16, do_sample: false },
    voices: [],
    async speak(words, options, signal) {
      refuseOthers(options, TAKEN);
      const settings = settingsOf(options, repository, positions);
      const length = 1 + settings.maxNewTokens;
      requireFrames(settings.maxNewTokens, { codebooks, fewest: codec.fewestFrames });
      codec.checkFrames(settings.maxNewTokens);
      const tokens = encoder.tokens(words);
      const rows = settings.guidanceScale > 1 ? 2 : 1;
      const bytes = rows * (length * self + tokens.length * cross);
      const reservation = await budget.reserveInTurn(bytes, signal);
      try {
        const [states] = await encoder.encode(tokens);
        const piece = { states: states!, settings, codebooks, length, pad, signal };
        const composed = await composeCodes(decoder.start(), piece);
        return { samples: await codec.decode(composed, signal), rate: codec.rate };
      } finally {
        reservation.release();
      }
    },
  };
}

/** @throws RunError 422 for more tokens than the decoder has positions */
function settingsOf(options: AudioOptions, repository: Json, positions: number): GenerationSettings {
  const settings = mergeSettings({
    ...{ request: options, repository, promptLength: 1 },
    ...{ contextLength: positions, hardLimit: false },
  });
  const { maxNewTokens } = settings;
  if (maxNewTokens < positions) return settings;
  throw new RunError(
    'unprocessable',
    `params.max_new_tokens: ${maxNewTokens} is more than the model can make, which is ${positions - 1}`,
  );
}
