import * as z from 'zod';
import type { Projected } from '../../layers/cached-attention.js';
import { headWidth } from '../../layers/head-sizes.js';
import { linear } from '../../layers/linear.js';
import { GraphError } from '../../writer/errors.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { epsilon, labelCount, labels, layers, size } from '../../config-fields.js';
import { type Name, type ParallelDecoder, twoLayers } from './parallel-decoder.js';

export const config = z.object({
  ...labels,
  vocab_size: size.default(50400),
  n_positions: size.default(2048),
  n_embd: size.default(4096),
  n_layer: layers.default(28),
  n_head: size.default(16),
  rotary_dim: z.int().min(2).default(64),
  n_inner: size.nullish(),
  activation_function: z.string().default('gelu_new'),
  layer_norm_epsilon: epsilon.default(1e-5),
  tie_word_embeddings: z.literal(false, 'tied scores have no bias, which is not known').default(false),
  pad_token_id: z.int().nullish(),
});

export type Config = z.output<typeof config>;

type Project = (g: GraphWriter, x: Value, at: Name) => Projected;

/** One norm for attention and feed-forward; neighbours of a head's first dimensions are turned. */
export function decoderOf(c: Config, project: Project): ParallelDecoder {
  const { n_embd: width, n_head: heads, rotary_dim: turned } = c;
  const ofHead = headWidth(width, heads);
  if (turned > ofHead)
    throw new GraphError(`config.json: rotary_dim is ${turned}, beyond a head's width of ${ofHead}`);
  return {
    ...{ layers: c.n_layer, vocabulary: c.vocab_size, width, heads, keyHeads: heads, tie: false },
    ...{ labels: labelCount(c), padId: c.pad_token_id ?? undefined, epsilon: c.layer_norm_epsilon },
    ...{ prefix: 'transformer.', parallel: true, scoresBias: true, interleaved: true },
    // A share from which the number of dimensions follows, rounded down.
    rotary: {
      ...{ rope_theta: 10_000, max_position_embeddings: c.n_positions },
      partial_rotary_factor: (turned + 0.5) / ofHead,
    },
    names: { embed: 'wte', layers: 'h', norm: 'ln_f', output: 'lm_head' },
    norms: { attention: 'ln_1', feedForward: 'ln_1' },
    project,
    output: (g, x, at) => linear(g, x, at('attn.out_proj'), { from: width, to: width, bias: false }),
    feedForward: twoLayers({
      ...{ names: ['mlp.fc_in', 'mlp.fc_out'], width, inner: c.n_inner ?? 4 * width },
      ...{ act: c.activation_function, bias: true },
    }),
  };
}
