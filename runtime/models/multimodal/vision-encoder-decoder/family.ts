import { named } from '../../inert-fields.js';
import * as z from 'zod';
import { defineFamily } from '../../family.js';
import { linear } from '../../layers/linear.js';
import type { ImageModel } from '../../bases/vision/image-encoder.js';
import { sourceDecoderRoles } from '../../bases/encoder-decoder/encoder-decoder-heads.js';
import type { SourceDecoder } from '../../layers/cross-decoder.js';
import type { GraphWriter } from '../../writer/graph-writer.js';
import { OLDER_NORMS } from '../../bases/encoder/bert-layer.js';
import { innerConfig } from '../inner-config.js';
import { beit } from '../../vision/beit.js';
import { deit } from '../../vision/deit.js';
import { donutSwin, swin } from '../../vision/swin.js';
import { vit } from '../../vision/vit.js';
import { READERS, type Reader } from './decoders.js';

const ENCODERS = [vit, deit, beit, swin, donutSwin];

function encoderSchema(type: string): z.ZodType<ImageModel> | undefined {
  const found = ENCODERS.find(({ modelTypes }) => modelTypes.includes(type));
  return found?.config.transform((config) => found.image!(config));
}

const readerSchema = (type: string): z.ZodType<Reader> | undefined =>
  Object.hasOwn(READERS, type) ? READERS[type] : undefined;

const config = z
  .object({
    encoder: innerConfig(encoderSchema, { usual: 'vit' }),
    decoder: innerConfig(readerSchema, { usual: 'gpt2' }),
  })
  .refine(({ encoder, decoder }) => [undefined, encoder.width].includes(decoder.sourceWidth), {
    ...{ message: 'is not the width of the encoder', path: ['decoder', 'cross_attention_hidden_size'] },
  });
type Config = z.output<typeof config>;

/** States of the image, as wide as the decoder reads them. */
function writeEncoder(g: GraphWriter, { encoder, decoder }: Config): void {
  const states = encoder.states(g);
  const isProjected = decoder.sourceWidth === undefined && encoder.width !== decoder.width;
  const to = decoder.decoder.width;
  const found = isProjected ? linear(g, states, 'enc_to_dec_proj', { from: encoder.width, to }) : states;
  g.output('last_hidden_state', found, 'float32', ['rows', 'tokens', to]);
}

const under = (part: string, ...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, [`${part}.${name}`]]));

const captionRoles = {
  encoder_model: writeEncoder,
  ...sourceDecoderRoles<Config>(({ decoder }): SourceDecoder => decoder.decoder),
};

/** A network of images, and a decoder that writes about what it gives: TrOCR, Donut. modeling_vision_encoder_decoder.py */
export const visionEncoderDecoder = defineFamily({
  modelTypes: ['vision-encoder-decoder'],
  inert: [
    {
      fields: named('is_decoder', 'add_cross_attention'),
      part: 'decoder',
      reason: 'the class sets both for its decoder',
    },
  ],
  usualTask: 'image-to-text',
  config,
  prefixes: [],
  older: OLDER_NORMS,
  parts: {
    ...Object.fromEntries(ENCODERS.flatMap(({ prefixes }) => prefixes.map((name) => [name, ['encoder.']]))),
    ...under(
      'decoder',
      'transformer.',
      'lm_head.',
      'model.',
      'output_projection.',
      'bert.',
      'cls.',
      'roberta.',
    ),
  },
  heads: { 'image-to-text': captionRoles, 'document-question-answering': captionRoles },
});
