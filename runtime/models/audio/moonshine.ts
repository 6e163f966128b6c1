import * as z from 'zod';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { attention } from '../layers/attention.js';
import { convolution } from '../layers/convolution.js';
import { groupNorm } from '../layers/group-norm.js';
import { headWidth } from '../layers/head-sizes.js';
import { embedding, linear, tableScores } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { rotary, rotate } from '../layers/rope.js';
import { type RotaryConfig, rotaryConfig } from '../layers/rope-frequencies.js';
import { sourceDecoderRoles } from '../bases/encoder-decoder/encoder-decoder-heads.js';
import type { DecoderState, SourceDecoder, Triple } from '../layers/cross-decoder.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { layers, size } from '../config-fields.js';

const config = z.object({
  ...rotaryConfig,
  max_position_embeddings: rotaryConfig.max_position_embeddings.default(512),
  partial_rotary_factor: z.number().positive().max(1).default(0.9),
  ...{ vocab_size: size.default(32768), hidden_size: size.default(288) },
  intermediate_size: size.default(1152),
  ...{ encoder_num_hidden_layers: layers.default(6), decoder_num_hidden_layers: layers.default(6) },
  ...{ encoder_num_attention_heads: size.default(8), decoder_num_attention_heads: size.default(8) },
  ...{ encoder_num_key_value_heads: size.nullish(), decoder_num_key_value_heads: size.nullish() },
  ...{ encoder_hidden_act: z.string().default('gelu'), decoder_hidden_act: z.string().default('silu') },
  attention_bias: z.boolean().default(false),
  tie_word_embeddings: z.boolean().default(true),
});
type Config = z.output<typeof config>;

const EPSILON = 1e-5;

type Side = 'encoder' | 'decoder';

/** What the decoder reads of a configuration. */
export type MoonshineDecoder = RotaryConfig &
  Pick<
    Config,
    'vocab_size' | 'hidden_size' | 'intermediate_size' | 'attention_bias' | 'tie_word_embeddings'
  > &
  Pick<Config, 'decoder_num_hidden_layers' | 'decoder_hidden_act' | 'decoder_num_attention_heads'> &
  Pick<Config, 'decoder_num_key_value_heads'>;

type Heads = { [Key in `${Side}_num_${'attention' | 'key_value'}_heads`]?: number | null | undefined };
type Sizes = Pick<Config, 'hidden_size' | 'attention_bias'>;

/** Heads of a side. @throws GraphError where queries share heads of keys, which Python can't compute */
function headsOf(c: Heads, side: Side): number {
  const [heads, keyHeads] = [c[`${side}_num_attention_heads`], c[`${side}_num_key_value_heads`]];
  if (keyHeads == null || keyHeads === heads) return heads!;
  throw new GraphError(`config.json: ${side}_num_key_value_heads other than its heads are not known`);
}

const normed = (g: GraphWriter, x: Value, name: string, c: Sizes): Value =>
  layerNorm(g, x, name, { width: c.hidden_size, epsilon: EPSILON, bias: false });

/** A projection of attention: `q`, `k` or `v`. */
const projected = (g: GraphWriter, x: Value, name: string, c: Sizes): Value =>
  linear(g, x, `${name}_proj`, { from: c.hidden_size, to: c.hidden_size, bias: c.attention_bias });

const output = (g: GraphWriter, x: Value, name: string, c: Sizes): Value =>
  linear(g, x, `${name}.o_proj`, { from: c.hidden_size, to: c.hidden_size, bias: false });

interface Turned {
  name: string;
  side: Side;
  /** int64 [rows or 1, tokens] */
  positions: Value;
}

/** Queries, keys and values of a layer's states, neighbours of queries and keys rotated by their positions. */
function selfOf(
  g: GraphWriter,
  x: Value,
  c: RotaryConfig & Sizes & Heads,
  { name, side, positions }: Turned,
): Triple {
  const heads = headsOf(c, side);
  const width = headWidth(c.hidden_size, heads);
  const rows = g.node('Shape', [x], { start: 0, end: 2 });
  const ofRows = g.once(`places ${positions}`, () => g.node('Expand', [positions, rows]));
  const turn = (value: Value) =>
    rotate(g, value, rotary(g, ofRows, c, width), { heads, width, interleaved: true });
  const one = (letter: string) => projected(g, x, `${name}.${letter}`, c);
  return { query: turn(one('q')), key: turn(one('k')), value: one('v') };
}

/** int64 [1, tokens]: positions from one on up to another. */
const range = (g: GraphWriter, from: Value, to: Value): Value =>
  g.node('Unsqueeze', [g.node('Range', [from, to, g.ints([1], [])]), g.ints([0])]);

/** Three convolutions over samples of any number; then layers with norms before. */
function encode(g: GraphWriter, c: Config): Value {
  const width = c.hidden_size;
  const at = (name: string) => `model.encoder.${name}`;
  const samples = g.node('Unsqueeze', [g.input('input_values', 'float32', ['rows', 'samples']), g.ints([1])]);
  const first = { from: 1, to: width, kernel: [127], stride: [64], bias: false };
  const heard = g.node('Tanh', [convolution(g, samples, at('conv1'), first)]);
  const norm = { width, groups: 1, epsilon: EPSILON, axes: 1 };
  const steps = [
    { name: 'conv2', from: width, to: 2 * width, kernel: [7], stride: [3] },
    { name: 'conv3', from: 2 * width, to: width, kernel: [3], stride: [2] },
  ].reduce(
    (x, { name, ...sizes }) => g.node('Gelu', [convolution(g, x, at(name), sizes)]),
    groupNorm(g, heard, at('groupnorm'), norm),
  );
  let x = g.node('Transpose', [steps], { perm: [0, 2, 1] });
  const count = g.node('Squeeze', [g.node('Shape', [x], { start: 1, end: 2 })]);
  const positions = range(g, g.ints([0], []), count);
  const inner = { from: width, to: c.intermediate_size };
  for (let i = 0; i < c.encoder_num_hidden_layers; i++) {
    const name = at(`layers.${i}`);
    const read = normed(g, x, `${name}.input_layernorm`, c);
    const self = selfOf(g, read, c, { name: `${name}.self_attn`, side: 'encoder', positions });
    const attended = attention(g, self, { heads: headsOf(c, 'encoder'), width });
    const middle = g.node('Add', [x, output(g, attended, `${name}.self_attn`, c)]);
    const fed = normed(g, middle, `${name}.post_attention_layernorm`, c);
    const wide = activation(g, linear(g, fed, `${name}.mlp.fc1`, inner), c.encoder_hidden_act);
    const narrow = linear(g, wide, `${name}.mlp.fc2`, { from: c.intermediate_size, to: width });
    x = g.node('Add', [middle, narrow]);
  }
  return normed(g, x, at('layer_norm'), c);
}

function decode(g: GraphWriter, ids: Value, state: DecoderState, c: MoonshineDecoder): Value {
  const width = c.hidden_size;
  const at = (name: string) => `model.decoder.${name}`;
  let x = embedding(g, ids, at('embed_tokens'), { rows: c.vocab_size, width });
  for (let i = 0; i < c.decoder_num_hidden_layers; i++) {
    const name = at(`layers.${i}`);
    const read = normed(g, x, `${name}.input_layernorm`, c);
    const self = selfOf(g, read, c, {
      name: `${name}.self_attn`,
      side: 'decoder',
      positions: state.positions,
    });
    const first = g.node('Add', [x, output(g, state.attendSelf(i, self), `${name}.self_attn`, c)]);
    const query = projected(
      g,
      normed(g, first, `${name}.post_attention_layernorm`, c),
      `${name}.encoder_attn.q`,
      c,
    );
    const heard = output(g, state.attendSource(i, query), `${name}.encoder_attn`, c);
    const second = g.node('Add', [first, heard]);
    x = g.node('Add', [second, gated(g, normed(g, second, `${name}.final_layernorm`, c), `${name}.mlp`, c)]);
  }
  return normed(g, x, at('norm'), c);
}

/** The second half of the wide layer is the gate of the first. */
function gated(g: GraphWriter, x: Value, name: string, c: MoonshineDecoder): Value {
  const inner = c.intermediate_size;
  const both = linear(g, x, `${name}.fc1`, { from: c.hidden_size, to: 2 * inner });
  const [value, gate] = g.nodes('Split', [both, g.ints([inner, inner])], {
    ...{ outputs: 2, attributes: { axis: -1 } },
  }) as [Value, Value];
  const product = g.node('Mul', [activation(g, gate, c.decoder_hidden_act), value]);
  return linear(g, product, `${name}.fc2`, { from: inner, to: c.hidden_size });
}

export function moonshineDecoder(c: MoonshineDecoder): SourceDecoder {
  const heads = headsOf(c, 'decoder');
  return {
    ...{ width: c.hidden_size, vocabulary: c.vocab_size, decoderLayers: c.decoder_num_hidden_layers },
    ...{ heads, headWidth: headWidth(c.hidden_size, heads) },
    projectSource(g, layer, states) {
      const one = (letter: string) =>
        projected(g, states, `model.decoder.layers.${layer}.encoder_attn.${letter}`, c);
      return { key: one('k'), value: one('v') };
    },
    decode: (g, ids, state) => decode(g, ids, state, c),
    scores(g, x) {
      const names = { own: 'proj_out.weight', tied: 'model.decoder.embed_tokens.weight' };
      return tableScores(g, x, names, {
        ...{ rows: c.vocab_size, width: c.hidden_size, tie: c.tie_word_embeddings },
      });
    },
  };
}

/** Speech of any length, without windows. modeling_moonshine.py */
export const moonshine = defineFamily({
  modelTypes: ['moonshine'],
  readers: { audio: 'moonshine', positions: 'distance' },
  usualTask: 'automatic-speech-recognition',
  config,
  prefixes: ['model.'],
  heads: {
    'speech-seq2seq': {
      encoder_model: (g, c: Config) =>
        g.output('last_hidden_state', encode(g, c), 'float32', ['rows', 'steps', c.hidden_size]),
      ...sourceDecoderRoles(moonshineDecoder),
    },
  },
});
