import { networkSizes } from '../../../core/network.js';
import { RunError } from '../../../core/errors.js';
import type { SampleSynthesizer, AudioOptions } from '../../../core/handles/index.js';
import type { LoadRequest } from '../../../core/load-request.js';
import { createCacheBudget } from '../../generation/decoding/cache/cache-budget.js';
import { planDecoderMemory } from '../../generation/decoding/cache/decoder-memory.js';
import { firstNumber, type Json, readOptionalJson } from '../../repository/model-folder.js';
import { openCachedDecoder } from '../cached-decoder.js';
import { refuseOthers } from '../options.js';
import { openTextStates } from '../text-states.js';
import { speakFrames } from './speak-frames.js';
import { drawMasks } from './dropout-masks.js';
import { openVocoder } from './vocoder.js';

const TAKEN = ['speaker_embeddings', 'threshold', 'minlenratio', 'maxlenratio'];

/** SpeechT5Config, SpeechT5FeatureExtractor */
const DEFAULTS = { voice: 512, bands: 80, step: 2, text: 450, speech: 4000, rate: 16_000 };

/** SpeechT5ForTextToSpeech with its vocoder: an encoder of texts, a decoder of mel frames, a graph that makes audio of them. */
export async function openSpeechT5(request: LoadRequest, config: Json): Promise<SampleSynthesizer> {
  const number = (name: string, otherwise: number) => firstNumber(config, name) ?? otherwise;
  const width = number('speaker_embedding_dim', DEFAULTS.voice);
  const [longestText, longest] = [
    number('max_text_positions', DEFAULTS.text),
    number('max_speech_positions', DEFAULTS.speech),
  ];
  const framesPerStep = number('reduction_factor', DEFAULTS.step);
  const network = networkSizes(request.spec);
  const [settings, encoder, decoder, vocoder] = await Promise.all([
    readRateSettings(request),
    openTextStates(request, { role: 'encoder_model', sizes: network, longest: longestText }),
    openCachedDecoder(request, config, {
      inputs: [
        ...['speaker_embeddings', 'encoder_hidden_states', 'encoder_attention_mask', 'output_sequence'],
        'dropout_masks',
      ],
      outputs: ['output_sequence_out', 'spectrum', 'prob'],
    }),
    openVocoder(request),
  ]);
  const { self, cross } = decoder.bytes;
  const sizes = { network, contextLength: longestText, bytesPerToken: self + cross, chunk: Infinity };
  const memory = planDecoderMemory(request, sizes);
  const budget = createCacheBudget(memory.cacheBytes, memory.cacheLimit);
  const bands = number('num_mel_bins', DEFAULTS.bands);
  const drawsMasks = decoder.takes('dropout_masks');
  const taken = [...TAKEN, ...(drawsMasks ? ['seed'] : [])];
  const example = { speaker_embeddings: [new Array<number>(width).fill(1)], maxlenratio: 1 };
  return {
    exampleOptions: drawsMasks ? { ...example, seed: 1 } : example,
    voices: [],
    async speak(text, options, signal) {
      refuseOthers(options, taken);
      const voice = voiceOf(options, width);
      const tokens = encoder.tokens(text);
      const limits = limitsOf(options, tokens.length, framesPerStep);
      const steps = Math.min(longest, Math.max(1, limits.most, limits.least));
      const reservation = await budget.reserveInTurn(steps * self + tokens.length * cross, signal);
      try {
        const [states, mask] = await encoder.encode(tokens);
        const masks = drawsMasks ? drawMasks(config, options['seed']) : undefined;
        const speech = { states: states!, mask, voice, masks, bands, limits, longest, signal };
        const frames = await speakFrames(decoder.start(), speech);
        const rate = firstNumber(settings, 'sampling_rate') ?? DEFAULTS.rate;
        return { samples: await vocoder(frames, bands, signal), rate };
      } finally {
        reservation.release();
      }
    },
  };
}

/** What says the rate: Python takes that of the vocoder, which exports name in the extractor's file. */
async function readRateSettings({ dir, spec }: LoadRequest): Promise<Json> {
  const file = 'vocoder' in spec.graphs ? 'vocoder/config.json' : 'preprocessor_config.json';
  return (await readOptionalJson(dir, file)) ?? {};
}

/** @throws RunError 422 without a voice of the model's width */
function voiceOf({ speaker_embeddings: given }: AudioOptions, width: number): number[] {
  const voice = [given ?? []].flat(2) as number[];
  if (voice.length === width) return voice;
  throw new RunError(
    'unprocessable',
    given == null
      ? `params.speaker_embeddings: this model needs a voice, a vector of ${width} numbers`
      : `params.speaker_embeddings: has ${voice.length} numbers, and the model takes ${width}`,
  );
}

/** In steps; ratios count frames per token. */
function limitsOf(
  { threshold, minlenratio, maxlenratio }: AudioOptions,
  tokens: number,
  framesPerStep: number,
) {
  const count = (ratio: unknown, otherwise: number) =>
    Math.trunc((tokens * Number(ratio ?? otherwise)) / framesPerStep);
  return {
    threshold: Number(threshold ?? 0.5),
    least: count(minlenratio, 0),
    most: count(maxlenratio, 20),
  };
}
