import * as z from 'zod';
import { defineFamily } from '../../family.js';
import { attention } from '../../layers/attention.js';
import { sourceDecoderRoles } from '../../bases/encoder-decoder/encoder-decoder-heads.js';
import { positionsOf, textInputs } from '../../layers/text-inputs.js';
import type { GraphWriter } from '../../writer/graph-writer.js';
import { BERT_SCORES } from '../../bases/encoder/bert-layer.js';
import { bertConfig } from '../../bases/encoder/bert-config.js';
import { layers, size } from '../../config-fields.js';
import { type Attending, bertReader, bertReading, sourcePair } from '../bert-cross-decoder.js';
import { blipImages, blipStates } from './image-encoder.js';

const text = z.object({
  ...bertConfig,
  ...{ vocab_size: size.default(30_524), hidden_size: size.default(768) },
  ...{ intermediate_size: size.default(3072), num_hidden_layers: layers.default(12) },
  num_attention_heads: size.default(8),
  position_embedding_type: z.literal('absolute').default('absolute'),
});

const config = z.object({ text_config: text.prefault({}), vision_config: blipImages.prefault({}) });
type Config = z.output<typeof config>;

const readerOf = ({ text_config: c, vision_config: { hidden_size: sourceWidth } }: Config) =>
  bertReader(c, { base: 'bert', firstPlace: 0, names: BERT_SCORES, sourceWidth });

const stateAxes = ['rows', 'tokens'] as const;

/** States of the tokens of a question that look at an image. */
function writeQuestions(g: GraphWriter, { text_config: c, vision_config: image }: Config): void {
  const { hidden_size: width, num_attention_heads: heads } = c;
  const seen = blipStates(g, image);
  const { ids, padding } = textInputs(g);
  const base = 'text_encoder';
  const state: Attending = {
    positions: g.node('Unsqueeze', [positionsOf(g, ids), g.ints([0])]),
    attendSelf: (_, projected) => attention(g, projected, { heads, width, padding }),
    attendSource(layer, query) {
      const at = (name: string) => `${base}.encoder.layer.${layer}.${name}`;
      const pair = sourcePair(g, seen, at, { from: image.hidden_size, to: width });
      return attention(g, { query, ...pair }, { heads, width });
    },
  };
  const states = bertReading(g, ids, c, { base, firstPlace: 0, state });
  g.output('last_hidden_state', states, 'float32', [...stateAxes, width]);
}

const part = (name: string) => ({ [name]: [`text_decoder.${name}`] });

/** A vision transformer, and BERT that writes about what it sees, or about a question that another one read. modeling_blip.py */
export const blip = defineFamily({
  modelTypes: ['blip'],
  readers: { processor: 'Blip', captions: 'blip' },
  config,
  prefixes: [],
  parts: { ...part('bert.'), ...part('cls.') },
  heads: {
    'image-to-text': {
      encoder_model: (g, c: Config) =>
        g.output('last_hidden_state', blipStates(g, c.vision_config), 'float32', [
          ...[...stateAxes, c.vision_config.hidden_size],
        ]),
      ...sourceDecoderRoles(readerOf),
    },
    'visual-answer-writing': { encoder_model: writeQuestions, ...sourceDecoderRoles(readerOf) },
  },
});
