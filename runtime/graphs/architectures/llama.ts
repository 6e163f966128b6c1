import { z } from 'zod';
import { defineArchitecture } from '../architecture.js';
import { cachedAttention } from '../blocks/cached-attention.js';
import { type Decoder, decoderHeads } from '../blocks/decoder.js';
import type { DecoderInputs } from '../blocks/decoder-inputs.js';
import { gatedFeedForward } from '../blocks/gated-feed-forward.js';
import { embedding, linear, tableScores } from '../blocks/linear.js';
import { rmsNorm } from '../blocks/norm.js';
import { rotary, rotate } from '../blocks/rotary.js';
import { rotaryConfig } from '../blocks/rotary-frequencies.js';
import type { GraphWriter, Value } from '../graph-writer.js';
import { decoderSizes, epsilon, labelCount } from './config.js';

const config = z
  .object({
    ...decoderSizes,
    ...rotaryConfig,
    model_type: z.string(),
    hidden_act: z.string().default('silu'),
    rms_norm_eps: epsilon.default(1e-6),
    attention_bias: z.boolean().nullish(),
    mlp_bias: z.boolean().default(false),
    tie_word_embeddings: z.boolean().default(false),
    sliding_window: z.int().min(1).nullish(),
    use_sliding_window: z.boolean().nullish(),
    max_window_layers: z.int().min(0).nullish(),
    layer_types: z.array(z.string()).nullish(),
  })
  .transform((given) => {
    const heads = given.num_attention_heads;
    const keyHeads = given.num_key_value_heads ?? heads;
    return { ...given, keyHeads, headWidth: given.head_dim ?? given.hidden_size / heads };
  });
type Config = z.output<typeof config>;

/** What tells the types of this family apart. */
interface Kind {
  /** Biases of the projections: of queries, keys and values; and of the output. */
  bias(c: Config): { projections: boolean; output: boolean };
  /** Each head of queries and keys has an RMSNorm before it is turned. */
  headNorms?: boolean;
  /** Tokens that a layer sees; undefined: all. */
  window?(c: Config, layer: number): number | undefined;
}

const attentionBias = ({ attention_bias }: Config) => ({
  projections: attention_bias === true,
  output: attention_bias === true,
});

/** Qwen's layers from max_window_layers on slide, where the configuration says that they may. */
function qwenWindow(c: Config, layer: number): number | undefined {
  if (c.use_sliding_window !== true || c.sliding_window == null) return undefined;
  const kind = c.layer_types?.[layer];
  const slides = kind ? kind === 'sliding_attention' : layer >= (c.max_window_layers ?? 28);
  return slides ? c.sliding_window : undefined;
}

const KINDS: Readonly<Record<string, Kind>> = {
  llama: { bias: attentionBias },
  mistral: {
    bias: () => ({ projections: false, output: false }),
    window: ({ sliding_window }) => sliding_window ?? undefined,
  },
  qwen2: { bias: () => ({ projections: true, output: false }), window: qwenWindow },
  qwen3: { bias: attentionBias, headNorms: true, window: qwenWindow },
};

function attend(g: GraphWriter, x: Value, { layer, inputs }: At, c: Config): Value {
  const at = (name: string) => `model.layers.${layer}.self_attn.${name}`;
  const kind = KINDS[c.model_type]!;
  const { num_attention_heads: heads, keyHeads, headWidth: width, hidden_size: from } = c;
  const bias = kind.bias(c);
  const projected = (name: string, count: number) =>
    linear(g, x, at(name), { from, to: count * width, bias: bias.projections });
  const turned = (name: string, norm: string, count: number) => {
    const plain = projected(name, count);
    const normed = kind.headNorms ? headNorm(g, plain, at(norm), { count, width, c }) : plain;
    return rotate(g, normed, rotary(g, inputs.positions, c, width), { heads: count, width });
  };
  const attended = cachedAttention(
    g,
    inputs,
    {
      query: turned('q_proj', 'q_norm', heads),
      key: turned('k_proj', 'k_norm', keyHeads),
      value: projected('v_proj', keyHeads),
    },
    {
      ...{ layer, heads, keyHeads, width, scale: width ** -0.5 },
      mask: inputs.mask(kind.window?.(c, layer)),
    },
  );
  return linear(g, attended, at('o_proj'), { from: heads * width, to: from, bias: bias.output });
}

/** A layer, and what it reads beside the states. */
interface At {
  layer: number;
  inputs: DecoderInputs;
}

/** RMSNorm of each head of float32 [rows, tokens, heads · width]. */
function headNorm(
  g: GraphWriter,
  x: Value,
  name: string,
  { count, width, c }: { count: number; width: number; c: Config },
): Value {
  const split = g.node('Reshape', [x, g.ints([0, 0, count, width])]);
  const normed = rmsNorm(g, split, name, { width, epsilon: c.rms_norm_eps });
  return g.node('Reshape', [normed, g.ints([0, 0, count * width])]);
}

function modelOf(c: Config): Decoder {
  const { hidden_size: width, vocab_size: vocabulary } = c;
  const norm = { width, epsilon: c.rms_norm_eps };
  return {
    ...{
      layers: c.num_hidden_layers,
      width,
      vocabulary,
      labels: labelCount(c),
      padId: c.pad_token_id ?? undefined,
    },
    ...{ keyHeads: c.keyHeads, headWidth: c.headWidth },
    embed: (g, { ids }) => embedding(g, ids, 'model.embed_tokens', { rows: vocabulary, width }),
    layer(g, x, layer, inputs) {
      const at = (name: string) => `model.layers.${layer}.${name}`;
      const attended = attend(g, rmsNorm(g, x, at('input_layernorm'), norm), { layer, inputs }, c);
      const middle = g.node('Add', [x, attended]);
      const fed = gatedFeedForward(
        g,
        rmsNorm(g, middle, at('post_attention_layernorm'), norm),
        (name) => at(`mlp.${name}`),
        { width, inner: c.intermediate_size, act: c.hidden_act, bias: c.mlp_bias },
      );
      return g.node('Add', [middle, fed]);
    },
    finish: (g, x) => rmsNorm(g, x, 'model.norm', norm),
    scores: (g, x) =>
      tableScores(
        g,
        x,
        { own: 'lm_head.weight', tied: 'model.embed_tokens.weight' },
        {
          ...{ rows: vocabulary, width, tie: c.tie_word_embeddings },
        },
      ),
  };
}

/** Llama and those that differ in biases, windows and norms of heads. modeling_{llama,mistral,qwen2,qwen3}.py */
export const llama = defineArchitecture({
  modelTypes: Object.keys(KINDS),
  config,
  prefixes: ['model.'],
  heads: decoderHeads(modelOf),
});
