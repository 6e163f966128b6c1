import * as z from 'zod';
import { type Family, defineFamily } from '../family.js';
import { convolution2d } from '../layers/convolution.js';
import { linear } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { boxOutputs } from '../layers/mlp.js';
import { nearestMask, sinePositions } from '../layers/position-grid.js';
import { gridOf, imageInput, tokensOf } from '../layers/patch-embed.js';
import { type NormPlace, type Part, type Placed, placedParts } from '../layers/detr-layer.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { ELEMENTS } from '../writer/tensors.js';
import { labelCount, labels, layers, size } from '../config-fields.js';
import { channels } from '../bases/vision/vit-config.js';
import { backboneConfig, detrBackbone } from './backbone/detr-backbone.js';

/** Of DETR and Conditional DETR. */
export const detrConfig = z.object({
  ...{ ...labels, ...backboneConfig },
  num_channels: channels,
  num_queries: size.default(100),
  d_model: size.multipleOf(4).default(256),
  ...{ encoder_layers: layers.default(6), decoder_layers: layers.default(6) },
  ...{ encoder_attention_heads: size.default(8), decoder_attention_heads: size.default(8) },
  ...{ encoder_ffn_dim: size.default(2048), decoder_ffn_dim: size.default(2048) },
  activation_function: z.string().default('relu'),
  position_embedding_type: z.literal('sine').default('sine'),
  /** Where networks were trained with it, Python norms what each layer of the decoder gives, and the last one's twice. */
  auxiliary_loss: z.boolean().default(false),
});
export type DetrConfig = z.output<typeof detrConfig>;

const EPSILON = 1e-5;

/** What an encoder makes of an image, and what its layers have in common with those of the decoder. */
export interface Encoded {
  source: Placed;
  common: Common;
}

/** Declares the inputs. */
export function encodedImage(g: GraphWriter, c: DetrConfig, kind: NormPlace): Encoded {
  const pixels = imageInput(g, c.num_channels);
  const mask = g.input('pixel_mask', 'int64', ['rows', 'height', 'width']);
  const { features, width: from } = detrBackbone(g, pixels, c, { channels: c.num_channels }).at(-1)!;
  const width = c.d_model;
  const cells = nearestMask(g, mask, gridOf(g, features));
  const projected = convolution2d(g, features, 'model.input_projection', { from, to: width, kernel: 1 });
  const padding = g.node('Cast', [g.node('Reshape', [cells, g.ints([0, -1])])], { to: ELEMENTS.int32 });
  const image = { x: tokensOf(g, projected), positions: sinePositions(g, cells, width) };
  const common = { ...kind, width, act: c.activation_function, epsilon: EPSILON, padding };
  return { source: { ...image, x: encode(g, image, c, common) }, common };
}

type Common = Omit<Part, 'heads' | 'inner'>;

function encode(g: GraphWriter, image: Placed, c: DetrConfig, common: Common): Value {
  const part = { ...common, heads: c.encoder_attention_heads, inner: c.encoder_ffn_dim, isEncoder: true };
  let { x } = image;
  for (let i = 0; i < c.encoder_layers; i++) {
    const { attend, feedForward } = placedParts(g, `model.encoder.layers.${i}`, part);
    x = feedForward(attend({ ...image, x }, 'self_attn'));
  }
  if (!common.normsBefore) return x;
  return layerNorm(g, x, 'model.encoder.layernorm', { width: c.d_model, epsilon: EPSILON });
}

/** Of configurations of decoders. */
type DecoderConfig = Pick<
  DetrConfig,
  'num_queries' | 'decoder_attention_heads' | 'decoder_ffn_dim' | 'decoder_layers' | 'auxiliary_loss'
>;

/** Names of a decoder and of the table of its queries. */
const NAMES = { decoder: 'model.decoder', queries: 'model.query_position_embeddings.weight' };

/** Queries begin as zeros, and are told apart by their positions: float32 [rows, queries, width]. */
export function decodedQueries(
  g: GraphWriter,
  { source, common }: Encoded,
  c: DecoderConfig,
  names: { decoder: string; queries: string } = NAMES,
): Value {
  const { width } = common;
  const own = { heads: c.decoder_attention_heads, inner: c.decoder_ffn_dim };
  const rows = g.node('Shape', [source.x], { start: 0, end: 1 });
  const shape = g.node('Concat', [rows, g.ints([c.num_queries, width])], { axis: 0 });
  const table = g.weight(names.queries, [c.num_queries, width]);
  const positions = g.node('Expand', [table, shape]);
  const norm = (each: Value) => layerNorm(g, each, `${names.decoder}.layernorm`, { width, epsilon: EPSILON });
  let x = g.node('Expand', [g.scalar(0), shape]);
  for (let i = 0; i < c.decoder_layers; i++) {
    const { attend, feedForward } = placedParts(g, `${names.decoder}.layers.${i}`, { ...common, ...own });
    const found = feedForward(
      attend({ x: attend({ x, positions }, 'self_attn'), positions }, 'encoder_attn', source),
    );
    x = c.auxiliary_loss ? norm(found) : found;
  }
  return norm(x);
}

const heads = (kind: NormPlace): Family<DetrConfig>['heads'] => ({
  'object-detection': {
    model: (g, c) => {
      const sizes = { width: c.d_model, queries: c.num_queries, labels: labelCount(c) };
      const states = decodedQueries(g, encodedImage(g, c, kind), c);
      const logits = linear(g, states, 'class_labels_classifier', {
        ...{ from: sizes.width, to: sizes.labels + 1 },
      });
      boxOutputs(g, { states, logits }, sizes);
    },
  },
});

/** modeling_detr.py */
export const detr = defineFamily({
  modelTypes: ['detr'],
  readers: { processor: 'Detr' },
  usualTask: 'object-detection',
  config: detrConfig,
  prefixes: ['model.'],
  heads: heads({ normsBefore: false }),
});

/** modeling_table_transformer.py */
export const tableTransformer = defineFamily({
  modelTypes: ['table-transformer'],
  readers: { processor: 'Detr' },
  config: detrConfig,
  prefixes: ['model.'],
  heads: heads({ normsBefore: true }),
});
