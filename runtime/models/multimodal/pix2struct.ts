import * as z from 'zod';
import { sourceDecoderRoles } from '../bases/encoder-decoder/encoder-decoder-heads.js';
import { t5Config } from '../bases/encoder-decoder/t5-model.js';
import { epsilon, layers, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { named } from '../inert-fields.js';
import { attention } from '../layers/attention.js';
import type { DecoderState, SourceDecoder, Triple } from '../layers/cross-decoder.js';
import { embedding, linear, multiplied } from '../layers/linear.js';
import { rmsNorm } from '../layers/norm.js';
import { gatedFeedForward } from '../layers/swiglu.js';
import { bucketBiasByRow, relativeBuckets } from '../layers/t5-relative-bias.js';
import { ELEMENTS } from '../writer/tensors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';

const layerFields = {
  ...{ hidden_size: size.default(768), d_kv: size.default(64), d_ff: size.default(2048) },
  dense_act_fn: z.string().default('gelu_new'),
};

const distances = t5Config.pick({
  ...{ relative_attention_num_buckets: true, relative_attention_max_distance: true },
});

const text = z
  .object({
    ...layerFields,
    ...{ vocab_size: size.default(50_244), num_layers: layers.default(12), num_heads: size.default(12) },
    ...distances.shape,
    layer_norm_epsilon: epsilon.default(1e-6),
    tie_word_embeddings: z.literal(false, 'is not known').default(false),
  })
  .refine((c) => c.num_heads * c.d_kv === c.hidden_size, {
    ...{ message: 'is not num_heads times d_kv', path: ['hidden_size'] },
  });
type Text = z.output<typeof text>;

const vision = z.object({
  ...layerFields,
  ...{ num_hidden_layers: layers.default(12), num_attention_heads: size.default(12) },
  ...{ patch_embed_hidden_size: size.default(768), layer_norm_eps: epsilon.default(1e-6) },
  seq_len: size.default(4096),
});
type Vision = z.output<typeof vision>;

const config = z
  .object({
    ...{ text_config: text.prefault({}), vision_config: vision.prefault({}) },
    tie_word_embeddings: z.literal(false, 'is not known').default(false),
  })
  .refine(({ text_config: reader, vision_config: seen }) => reader.hidden_size === seen.hidden_size, {
    ...{ message: 'is not that of the text', path: ['vision_config', 'hidden_size'] },
  });
type Config = z.output<typeof config>;

const GATED = { gate: 'wi_0', up: 'wi_1', down: 'wo' };

const feedForward = (g: GraphWriter, x: Value, at: string, c: Vision | Text): Value =>
  gatedFeedForward(g, x, (part) => `${at}.${part}`, {
    ...{ width: c.hidden_size, inner: c.d_ff, act: c.dense_act_fn, names: GATED },
  });

function projected(g: GraphWriter, x: Value, at: string, to: { from: number; to: number }): Triple {
  const one = (name: string) => linear(g, x, `${at}.${name}`, { ...to, bias: false });
  return { query: one('query'), key: one('key'), value: one('value') };
}

/** Rows of [row, column, pixels] -> a state for each patch. */
function writeEncoder(g: GraphWriter, { vision_config: c }: Config): void {
  const axes = ['rows', 'patches'];
  const patches = g.input('flattened_patches', 'float32', [...axes, 2 + c.patch_embed_hidden_size]);
  const padding = g.node('Cast', [g.input('attention_mask', 'int64', axes)], { to: ELEMENTS.int32 });
  const width = c.hidden_size;
  const whole = c.num_attention_heads * c.d_kv;
  const norm = (x: Value, name: string) => rmsNorm(g, x, name, { width, epsilon: c.layer_norm_eps });
  let x = embedded(g, patches, c);
  for (let i = 0; i < c.num_hidden_layers; i++) {
    const at = `encoder.encoder.layer.${i}`;
    const read = norm(x, `${at}.pre_attention_layer_norm`);
    const parts = projected(g, read, `${at}.attention`, { from: width, to: whole });
    const seen = attention(g, parts, { heads: c.num_attention_heads, width: whole, scale: 1, padding });
    x = g.node('Add', [
      x,
      linear(g, seen, `${at}.attention.output`, { from: whole, to: width, bias: false }),
    ]);
    x = g.node('Add', [x, feedForward(g, norm(x, `${at}.pre_mlp_layer_norm`), `${at}.mlp`, c)]);
  }
  g.output('last_hidden_state', norm(x, 'encoder.layernorm'), 'float32', [...axes, width]);
}

/** Pixels, and a vector each for the row and the column of a patch. */
function embedded(g: GraphWriter, patches: Value, c: Vision): Value {
  const part = (from: number, to: number) =>
    g.node('Slice', [patches, g.ints([from]), g.ints([to]), g.ints([2])]);
  const placed = (column: number, name: string) => {
    const index = g.node('Cast', [g.node('Squeeze', [part(column, column + 1), g.ints([2])])], {
      to: ELEMENTS.int64,
    });
    return embedding(g, index, `encoder.embeddings.${name}`, { rows: c.seq_len, width: c.hidden_size });
  };
  const [from, to] = [c.patch_embed_hidden_size, c.hidden_size];
  const pixels = linear(g, part(2, 2 + from), 'encoder.embeddings.patch_projection', { from, to });
  const rows = g.node('Add', [pixels, placed(0, 'row_embedder')]);
  return g.node('Add', [rows, placed(1, 'column_embedder')]);
}

const textNorm = (g: GraphWriter, x: Value, name: string, c: Text): Value =>
  rmsNorm(g, x, name, { width: c.hidden_size, epsilon: c.layer_norm_epsilon });

/** What distances add to scores, the same in all layers. */
function biasOf(g: GraphWriter, state: DecoderState, c: Text): Value {
  const count = c.relative_attention_num_buckets;
  const farthest = c.relative_attention_max_distance;
  const table = 'decoder.layer.0.self_attention.attention.relative_attention_bias.weight';
  const buckets = relativeBuckets(g, state.distances(), { count, farthest, bothWays: false });
  return bucketBiasByRow(g, buckets, g.weight(table, [count, c.num_heads]));
}

function decode(g: GraphWriter, ids: Value, state: DecoderState, c: Text): Value {
  const square = { from: c.hidden_size, to: c.hidden_size, bias: false };
  const bias = biasOf(g, state, c);
  const added = (states: Value, at: string, write: (read: Value) => Value) =>
    g.node('Add', [states, write(textNorm(g, states, `${at}.layer_norm`, c))]);
  let x = embedding(g, ids, 'decoder.embed_tokens', { rows: c.vocab_size, width: c.hidden_size });
  for (let i = 0; i < c.num_layers; i++) {
    const [self, source, mlp] = ['self_attention', 'encoder_decoder_attention', 'mlp'].map(
      (part) => `decoder.layer.${i}.${part}`,
    ) as [string, string, string];
    x = added(x, self, (read) => {
      const parts = projected(g, read, `${self}.attention`, square);
      return linear(g, state.attendSelf(i, parts, bias), `${self}.attention.output`, square);
    });
    x = added(x, source, (read) => {
      const query = linear(g, read, `${source}.attention.query`, square);
      return linear(g, state.attendSource(i, query), `${source}.attention.output`, square);
    });
    x = added(x, mlp, (read) => feedForward(g, read, `${mlp}.DenseReluDense`, c));
  }
  return textNorm(g, x, 'decoder.final_layer_norm', c);
}

const readerOf = ({ text_config: c, text_config: { hidden_size: width } }: Config): SourceDecoder => ({
  ...{ width, vocabulary: c.vocab_size, decoderLayers: c.num_layers },
  ...{ heads: c.num_heads, headWidth: c.d_kv, scale: 1 },
  projectSource(g, layer, states) {
    const at = `decoder.layer.${layer}.encoder_decoder_attention.attention`;
    const one = (name: string) => linear(g, states, `${at}.${name}`, { from: width, to: width, bias: false });
    return { key: one('key'), value: one('value') };
  },
  decode: (g, ids, state) => decode(g, ids, state, c),
  scores: (g, x) =>
    multiplied(g, x, 'decoder.lm_head.weight', { rows: c.vocab_size, columns: width, isTable: true }),
});

/** Patches of the whole image, as many as fit, with their rows and columns, before T5's decoder. modeling_pix2struct.py */
export const pix2struct = defineFamily({
  modelTypes: ['pix2struct'],
  readers: { processor: 'Pix2Struct' },
  usualTask: 'image-to-text',
  limits: [
    'Questions are not served: Python draws their text over the image, in a font that can’t be shipped.',
  ],
  inert: [
    {
      fields: named('relative_attention_num_buckets', 'relative_attention_max_distance'),
      part: 'vision_config',
      reason: 'the class reads them nowhere',
    },
    {
      fields: named('is_decoder', 'add_cross_attention', 'is_encoder_decoder'),
      part: 'text_config',
      reason: 'its decoder always attends to the image',
    },
    { fields: named('is_vqa'), reason: 'the processor goes by its own file' },
  ],
  config,
  prefixes: [],
  heads: { 'image-to-text': { encoder_model: writeEncoder, ...sourceDecoderRoles(readerOf) } },
});
