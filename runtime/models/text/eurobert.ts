import * as z from 'zod';
import { firstToken, meanOfTokens, textHeads, type TextModel } from '../bases/encoder/encoder-heads.js';
import { llamaConfig, llamaSizes, usualSizes } from '../bases/decoder/llama-config.js';
import { epsilon, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { attention } from '../layers/attention.js';
import { headGroup } from '../layers/head-sizes.js';
import { embedding, linear, tableScores } from '../layers/linear.js';
import { rmsNorm } from '../layers/norm.js';
import { rotary, rotate } from '../layers/rope.js';
import { gatedFeedForward } from '../layers/swiglu.js';
import { textInputs, textPositions } from '../layers/text-inputs.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';

const config = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 128_256, width: 768, inner: 3072, layers: 12, heads: 12 }),
  max_position_embeddings: size.default(8192),
  pad_token_id: z.int().nullable().default(128_001),
  rms_norm_eps: epsilon.default(1e-5),
  mlp_bias: z.boolean().default(false),
  classifier_pooling: z.enum(['bos', 'mean', 'late']).default('late'),
});
type Config = z.output<typeof config>;

interface Layer {
  at(name: string): string;
  ids: Value;
  padding: Value;
}

/** Llama's attention to both sides. */
function attend(g: GraphWriter, x: Value, { at, ids, padding }: Layer, c: Config): Value {
  const { heads, keyHeads, headWidth: width, bias } = llamaSizes(c);
  const project = (name: string, count: number) =>
    linear(g, x, at(`self_attn.${name}_proj`), {
      ...{ from: c.hidden_size, to: count * width, bias: bias.projections },
    });
  const positions = textPositions(g, ids);
  const rotated = (part: Value, count: number) =>
    rotate(g, part, rotary(g, positions, c, width), { heads: count, width });
  const shared = (part: Value) => sharedHeads(g, part, { heads, keyHeads, width });
  const attended = attention(
    g,
    {
      query: rotated(project('q', heads), heads),
      key: shared(rotated(project('k', keyHeads), keyHeads)),
      value: shared(project('v', keyHeads)),
    },
    { heads, width: heads * width, padding },
  );
  const to = c.hidden_size;
  return linear(g, attended, at('self_attn.o_proj'), { from: heads * width, to, bias: bias.output });
}

/** Each head of keys for every head of queries that shares it: float32 [rows, tokens, heads · width]. */
function sharedHeads(
  g: GraphWriter,
  x: Value,
  { heads, keyHeads, width }: { heads: number; keyHeads: number; width: number },
): Value {
  const group = headGroup(heads, keyHeads);
  if (group === 1) return x;
  const parted = g.node('Reshape', [x, g.ints([0, 0, keyHeads, 1, width])]);
  const repeated = g.node('Expand', [parted, g.ints([1, 1, 1, group, 1])]);
  return g.node('Reshape', [repeated, g.ints([0, 0, heads * width])]);
}

function statesOf(g: GraphWriter, c: Config): Value {
  const { ids, padding } = textInputs(g);
  const norm = { width: c.hidden_size, epsilon: c.rms_norm_eps };
  let x = embedding(g, ids, 'model.embed_tokens', { rows: c.vocab_size, width: c.hidden_size });
  for (let i = 0; i < c.num_hidden_layers; i++) {
    const at = (name: string) => `model.layers.${i}.${name}`;
    const read = rmsNorm(g, x, at('input_layernorm'), norm);
    const middle = g.node('Add', [x, attend(g, read, { at, ids, padding }, c)]);
    const fed = gatedFeedForward(
      g,
      rmsNorm(g, middle, at('post_attention_layernorm'), norm),
      (name) => at(`mlp.${name}`),
      { width: c.hidden_size, inner: c.intermediate_size, act: c.hidden_act, bias: c.mlp_bias },
    );
    x = g.node('Add', [middle, fed]);
  }
  return rmsNorm(g, x, 'model.norm', norm);
}

/** Labels of each token, pooled, or of what is pooled: both linear, with an activation between. */
function classify(g: GraphWriter, states: Value, c: Config): Value {
  const [width, { labels }] = [c.hidden_size, llamaSizes(c)];
  const scored = (x: Value) => {
    const dense = activation(g, linear(g, x, 'dense', { from: width, to: width }), 'gelu');
    return linear(g, dense, 'classifier', { from: width, to: labels });
  };
  if (c.classifier_pooling === 'late') return meanOfTokens(g, scored(states));
  return scored(c.classifier_pooling === 'bos' ? firstToken(g, states) : meanOfTokens(g, states));
}

const TABLES = { own: 'lm_head.weight', tied: 'model.embed_tokens.weight' };

const modelOf = (c: Config): TextModel => ({
  ...{ width: c.hidden_size, vocabulary: c.vocab_size, labels: llamaSizes(c).labels },
  states: (g) => statesOf(g, c),
  classify: (g, states) => classify(g, states, c),
  fill(g, states) {
    const size = { rows: c.vocab_size, width: c.hidden_size, tie: c.tie_word_embeddings };
    const scores = tableScores(g, states, TABLES, size);
    return c.mlp_bias ? g.node('Add', [scores, g.weight('lm_head.bias', [c.vocab_size])]) : scores;
  },
});

const { 'question-answering': _, ...heads } = textHeads(modelOf);

/** Llama's layers that attend to both sides. modeling_eurobert.py, which has no answers in texts */
export const eurobert = defineFamily({ modelTypes: ['eurobert'], config, prefixes: ['model.'], heads });
