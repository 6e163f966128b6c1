import * as z from 'zod';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { multiplied } from '../layers/linear.js';
import { type Choices, expertsSum, overTokens, softmaxChoices } from '../layers/moe.js';
import { seq2seqHeads } from '../bases/encoder-decoder/encoder-decoder-heads.js';
import { t5Config, t5Model, type T5Parts } from '../bases/encoder-decoder/t5-model.js';
import { layers, size } from '../config-fields.js';
import { ELEMENTS } from '../writer/tensors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';

const { feed_forward_proj: _, is_gated_act: __, scale_decoder_outputs: ___, ...shared } = t5Config.shape;

const count = z.int().min(0).max(1024);

const config = z.object({
  ...shared,
  num_decoder_layers: layers.nullish().default(12),
  dense_act_fn: z.string().default('relu'),
  num_experts: size.default(8),
  expert_capacity: size.default(64),
  num_sparse_encoder_layers: count.default(3),
  num_sparse_decoder_layers: count.default(3),
  /** What the numbers of sparse layers come to; where a file says both, Python goes by these. */
  ...{ encoder_sparse_step: count.nullish(), decoder_sparse_step: count.nullish() },
  router_bias: z.boolean().default(false),
  router_dtype: z.literal('float32', 'routers of other numbers are not written').default('float32'),
});
type Config = z.output<typeof config>;

/** Every so many layers have experts, the last one of each. */
function isSparse(c: Config, side: 'encoder' | 'decoder', block: number): boolean {
  const [given, count, sparse] =
    side === 'encoder'
      ? [c.encoder_sparse_step, c.num_layers, c.num_sparse_encoder_layers]
      : [c.decoder_sparse_step, c.num_decoder_layers ?? c.num_layers, c.num_sparse_decoder_layers];
  const step = given ?? (sparse > 0 ? Math.floor(count / sparse) : count);
  return step > 0 && (block % step === 1 || step === 1);
}

/** Tokens of a text that come too late to an expert go through none. @param x float32 [rows, tokens, width] */
function withinCapacity(g: GraphWriter, x: Value, choices: Choices, capacity: number): Choices {
  const { which, weights, experts } = choices;
  const shape = g.node('Concat', [g.node('Shape', [x], { start: 0, end: 2 }), g.ints([1])], { axis: 0 });
  const chosen = g.node('Reshape', [which, shape]);
  const numbers = g.ints(Array.from({ length: experts }, (_, i) => i));
  const own = g.node('Cast', [g.node('Equal', [chosen, numbers])], { to: ELEMENTS.int64 });
  const place = g.node('ReduceSum', [
    ...[g.node('Mul', [g.node('CumSum', [own, g.ints([1], [])]), own]), g.ints([2])],
  ]);
  const isIn = g.node('LessOrEqual', [place, g.ints([capacity], [])]);
  const factor = g.node('Reshape', [
    g.node('Cast', [isIn], { to: ELEMENTS.float32 }),
    g.node('Shape', [weights]),
  ]);
  return { ...choices, weights: g.node('Mul', [weights, factor]) };
}

function feedForwardOf(c: Config): NonNullable<T5Parts['feedForward']> {
  const { d_model: width, d_ff: inner, num_experts: experts, dense_act_fn: act } = c;
  const layer = (g: GraphWriter, at: string) => ({
    wide: (x: Value) => multiplied(g, x, `${at}.wi.weight`, { rows: inner, columns: width }),
    narrow: (x: Value) => multiplied(g, x, `${at}.wo.weight`, { rows: width, columns: inner }),
  });
  return (g, read, name, { side, block }) => {
    const at = `${name}.mlp`;
    if (!isSparse(c, side, block)) {
      const { wide, narrow } = layer(g, at);
      return narrow(activation(g, wide(read), act));
    }
    return overTokens(g, read, width, (tokens) => {
      const router = `${at}.router.classifier`;
      const sizes = { width, experts, chosen: 1, normalized: false, bias: c.router_bias };
      const choices = softmaxChoices(g, tokens, router, sizes);
      const expert = (i: number) => layer(g, `${at}.experts.expert_${i}`);
      return expertsSum(g, tokens, withinCapacity(g, read, choices, c.expert_capacity), {
        width,
        compute(rows, through) {
          const wide = through(rows, (own, i) => [expert(i).wide(own)])[0]!;
          return through(activation(g, wide, act), (own, i) => [expert(i).narrow(own)])[0]!;
        },
      });
    });
  };
}

/** T5 with experts in some layers, one for each token. modeling_switch_transformers.py */
export const switchTransformers = defineFamily({
  modelTypes: ['switch_transformers'],
  readers: { positions: 'distance' },
  usualTask: 'text2text-generation',
  config,
  prefixes: [],
  heads: seq2seqHeads<Config>((c) =>
    t5Model({
      ...c,
      feed_forward_proj: c.dense_act_fn,
      parts: { feedForward: feedForwardOf(c), ownTables: !c.tie_word_embeddings },
    }),
  ),
});
