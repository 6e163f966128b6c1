import * as z from 'zod';
import { sourceDecoderRoles } from '../bases/encoder-decoder/encoder-decoder-heads.js';
import { equalHeads, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import type { SourceDecoder } from '../layers/cross-decoder.js';
import { sinusoids } from '../layers/sinusoids.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { parakeetAudio, parakeetEncoderOr } from './parakeet.js';
import { heardStates, promptedDecoder, promptedDecoderFields } from './prompted-decoder.js';

const decoder = z
  .object({
    model_type: z.literal('canary_decoder').default('canary_decoder'),
    ...promptedDecoderFields,
    head_dim: size.nullable().default(128),
  })
  .refine(...equalHeads);
type Decoder = z.output<typeof decoder>;

const config = z
  .object({
    encoder_config: parakeetEncoderOr({ num_hidden_layers: 32, num_mel_bins: 128, scale_input: false }),
    decoder_config: decoder.nullish().transform((given) => given ?? decoder.parse({})),
    tie_word_embeddings: z.boolean().default(true),
  })
  .refine((c) => c.encoder_config.hidden_size === c.decoder_config.hidden_size, {
    ...{ message: 'is not the width of the decoder', path: ['encoder_config', 'hidden_size'] },
  });
type Config = z.output<typeof config>;

/** Sines and cosines that get smaller with the width, as NeMo has them. */
function positionsOf(g: GraphWriter, positions: Value, { hidden_size: width }: Decoder): Value {
  const found = sinusoids(g, positions, width, (i) => 10_000 ** ((-2 * i) / width));
  return g.node('Mul', [found, g.scalar(1 / Math.sqrt(width))]);
}

function decoderOf({ decoder_config: c, tie_word_embeddings }: Config): SourceDecoder {
  return promptedDecoder({
    ...{ ...c, tie_word_embeddings },
    positions: (g, positions) => positionsOf(g, positions, c),
  });
}

function writeEncoder(g: GraphWriter, { encoder_config: c }: Config): void {
  g.output('last_hidden_state', heardStates(g, c), 'float32', ['rows', 'steps', c.hidden_size]);
}

/** Parakeet's encoder before a decoder whose prompt names the languages of the audio and of the text. modeling_canary.py */
export const canary = defineFamily({
  modelTypes: ['canary'],
  readers: { extractor: 'Parakeet', audio: 'canary' },
  memory: { audio: parakeetAudio },
  limits: [
    'Speech is written in its own language (English unless `params.language` names another), or in English.',
  ],
  usualTask: 'automatic-speech-recognition',
  config,
  prefixes: ['model.'],
  heads: { 'speech-seq2seq': { encoder_model: writeEncoder, ...sourceDecoderRoles(decoderOf) } },
});
