import * as z from 'zod';
import { defineFamily } from '../../family.js';
import { lookedUp } from '../../layers/linear.js';
import { sourceDecoderRoles } from '../../bases/encoder-decoder/encoder-decoder-heads.js';
import type { GraphWriter } from '../../writer/graph-writer.js';
import { ELEMENTS } from '../../writer/tensors.js';
import { layers, size } from '../../config-fields.js';
import { BART_OFFSET } from '../../bases/encoder-decoder/bart-model.js';
import { bartModel, tableName } from '../../bases/encoder-decoder/bart-decoder.js';
import { bartConfig, bartSizes } from '../../bases/encoder-decoder/bart-config.js';
import { learned } from '../../bases/encoder-decoder/positions.js';
import { florenceFeatures, florenceMap, florenceImages } from './image-encoder.js';

const text = z.object({
  ...bartConfig,
  model_type: z.literal('bart').default('bart'),
  ...{ vocab_size: size.default(50_265), d_model: size.default(1024) },
  ...{ encoder_layers: layers.default(12), decoder_layers: layers.default(12) },
  ...{ encoder_ffn_dim: size.default(4096), decoder_ffn_dim: size.default(4096) },
  ...{ encoder_attention_heads: size.default(16), decoder_attention_heads: size.default(16) },
});

const config = z.object({
  text_config: text.prefault({}),
  vision_config: florenceImages.prefault({}),
});
type Config = z.output<typeof config>;

const modelOf = ({ text_config: c }: Config) =>
  bartModel({
    ...bartSizes(c),
    ...{ normsBefore: false, embeddingNorm: true, embedded: true },
    positions: learned({ rows: c.max_position_embeddings, width: c.d_model, offset: BART_OFFSET }),
  });

function writeTable(g: GraphWriter, { text_config: c }: Config): void {
  const ids = g.input('input_ids', 'int64', ['rows', 'tokens']);
  const found = lookedUp(g, ids, tableName(g, 'encoder'), { rows: c.vocab_size, width: c.d_model });
  const { embedScale } = bartSizes(c);
  const scaled = embedScale === 1 ? found : g.node('Mul', [found, g.scalar(embedScale)]);
  g.output('inputs_embeds', scaled, 'float32', ['rows', 'tokens', c.d_model]);
}

function writeEncoder(g: GraphWriter, c: Config): void {
  const width = c.text_config.d_model;
  const axes = ['rows', 'tokens'];
  const vectors = g.input('inputs_embeds', 'float32', [...axes, width]);
  const mask = g.input('attention_mask', 'int64', axes);
  const padding = g.node('Cast', [mask], { to: ELEMENTS.int32 });
  const states = modelOf(c).encode(g, { ids: vectors, mask, padding, types: '' });
  g.output('last_hidden_state', states, 'float32', [...axes, width]);
}

const part = (name: string) => ({ [name]: [`model.${name}`, name] });

/** BART that reads an image before a text; the image's network mixes tokens and channels in turn. modeling_florence2.py */
export const florence2 = defineFamily({
  modelTypes: ['florence2'],
  readers: { prompts: { image: 'florence2' } },
  limits: ['Answers are text: positions of boxes stay tokens in it.', 'Takes one image at a time.'],
  usualTask: 'image-text-to-text',
  config,
  prefixes: [],
  parts: {
    'model.': ['model.language_model.', 'language_model.model.', 'language_model.'],
    'lm_head.': ['lm_head.', 'language_model.lm_head.'],
    final_logits_bias: ['final_logits_bias', 'language_model.final_logits_bias'],
    ...part('vision_tower.'),
    ...part('multi_modal_projector.'),
  },
  heads: {
    'media-chat': {
      embed_tokens: writeTable,
      vision_encoder: (g, c: Config) =>
        g.output(
          'image_features',
          florenceFeatures(g, florenceMap(g, c.vision_config), c.vision_config),
          'float32',
          ['rows', 'features', c.vision_config.projection_dim],
        ),
      encoder_model: writeEncoder,
      ...sourceDecoderRoles(modelOf),
    },
  },
});
