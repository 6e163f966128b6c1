import * as z from 'zod';
import type { MediaEncoderSizes } from '../../../core/network.js';
import { embeddedDecoderRoles } from '../../bases/decoder/decoder-heads.js';
import type { Decoder } from '../../bases/decoder/decoder.js';
import { isOfVersion5, library, size } from '../../config-fields.js';
import { defineFamily } from '../../family.js';
import { named } from '../../inert-fields.js';
import { inPieces } from '../../layers/block-attention.js';
import { linear } from '../../layers/linear.js';
import { granite, graniteConfig } from '../../text/granite.js';
import type { GraphWriter } from '../../writer/graph-writer.js';
import { innerConfig } from '../inner-config.js';
import { queried, queryFormer } from '../q-former.js';
import { conformer, conformerStates } from './encoder.js';

const text = graniteConfig.transform((c) => ({
  decoder: granite.decoder!(c),
  multiplier: c.embedding_multiplier,
}));

/** The outer field says whether the table is shared; where there is none, it is. The newer type is of version 5 alone. */
function completed(given: object): object {
  const {
    text_config,
    tie_word_embeddings: tie = true,
    ...rest
  } = given as Readonly<Record<string, unknown>>;
  const version = rest['model_type'] === 'granite_speech_plus' ? { transformers_version: '5.0' } : {};
  return {
    ...version,
    ...rest,
    text_config: { ...(text_config as object | undefined), tie_word_embeddings: tie },
  };
}

const projector = queryFormer.extend({
  model_type: z.literal('blip_2_qformer').default('blip_2_qformer'),
  encoder_hidden_size: size.default(1408),
});

const fields = z
  .object({
    ...library,
    text_config: innerConfig((type) => (type === 'granite' ? text : undefined), { usual: 'granite' }),
    encoder_config: conformer.prefault({}),
    projector_config: projector.prefault({}),
    ...{ downsample_rate: size.default(5), window_size: size.default(15) },
    has_lora_adapter: z.boolean().default(true),
  })
  .refine((c) => !c.has_lora_adapter, {
    ...{ message: 'an adapter that Python adds for audio alone is not known', path: ['has_lora_adapter'] },
  })
  .refine((c) => c.window_size % c.downsample_rate === 0, {
    ...{ message: 'is no whole part of window_size', path: ['downsample_rate'] },
  });
const config = z.preprocess((given) => completed(given as object), fields);
type Config = z.output<typeof fields>;

/** Version 5 has lost the divisor of the scores. */
function decoderOf(c: Config): Decoder {
  const { decoder } = c.text_config;
  return isOfVersion5(c) ? { ...decoder, scores: decoder.plainScores! } : decoder;
}

/** `audio_features` [features, width] of an audio clip: learned queries look at windows of its steps. */
function writeEncoder(g: GraphWriter, c: Config): void {
  const { projector_config: former } = c;
  const { states, width } = conformerStates(g, c.encoder_config);
  const queries = {
    ...{ name: 'projector.query', count: c.window_size / c.downsample_rate },
    ...{ seen: inPieces(g, states, c.window_size, width), width },
  };
  const found = g.node('Reshape', [queried(g, former, queries), g.ints([-1, former.hidden_size])]);
  const { decoder, multiplier } = c.text_config;
  const features = linear(g, found, 'projector.linear', { from: former.hidden_size, to: decoder.width });
  // The language model multiplies what it reads, vectors of tokens or not.
  const scaled = multiplier === 1 ? features : g.node('Mul', [features, g.scalar(multiplier)]);
  g.output('audio_features', scaled, 'float32', ['features', decoder.width]);
}

/** Steps of a block see each other. */
const audioEncoder = ({ encoder_config: c }: Config): MediaEncoderSizes => ({
  ...{ hidden: c.hidden_dim, intermediate: c.hidden_dim * c.feedforward_mult, heads: c.num_heads },
  ...{ patches: c.context_size, masked: true },
});

/** Granite that reads audio clips through a conformer and learned queries. modeling_granite_speech.py, modeling_granite_speech_plus.py */
export const graniteSpeech = defineFamily({
  modelTypes: ['granite_speech', 'granite_speech_plus'],
  readers: { prompts: { audio: 'granite-speech' } },
  memory: { audioEncoder },
  usualTask: 'audio-text-to-text',
  limits: [
    'A conversation holds one recording. Models with an adapter for audio (`has_lora_adapter`) are refused.',
  ],
  inert: [
    {
      fields: named('use_qformer_text_input', 'vocab_size', 'max_position_embeddings'),
      part: 'projector_config',
      reason: 'texts, which these queries do not read',
    },
  ],
  config,
  prefixes: [],
  parts: {
    'encoder.': ['model.encoder.', 'encoder.'],
    'qformer.': ['model.projector.qformer.', 'projector.qformer.'],
    'projector.': ['model.projector.', 'projector.'],
    'model.': ['model.language_model.', 'language_model.model.'],
    'lm_head.': ['lm_head.', 'language_model.lm_head.'],
  },
  heads: {
    'media-chat': { ...embeddedDecoderRoles<Config>(decoderOf), audio_encoder: writeEncoder },
  },
});
