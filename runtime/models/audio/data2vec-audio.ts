import * as z from 'zod';
import { float } from '../writer/attributes.js';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { convolution } from '../layers/convolution.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { isListed, LISTED, waveConfig } from '../bases/audio/wave-config.js';
import { waveHeads } from '../bases/audio/wave-encoder.js';

const few = z.int().min(1).max(4096);

const config = z
  .object({
    ...waveConfig,
    num_conv_pos_embeddings: few.max(64).default(5),
    conv_pos_kernel_size: few.default(19),
  })
  .refine(isListed, LISTED)
  // Of the network, whatever a configuration says.
  .transform((c) => ({
    ...c,
    ...{ feat_extract_norm: 'layer' as const, do_stable_layer_norm: false, adapter_attn_dim: null },
  }));
type Config = z.output<typeof config>;

const base = 'data2vec_audio.';
/** torch's default for norms. */
const EPSILON = 1e-5;

/** Several convolutions, each with a norm that has learned nothing, where wav2vec 2.0 has a wide one. */
function positions(g: GraphWriter, steps: Value, c: Config): Value {
  const [width, kernel, groups] = [c.hidden_size, c.conv_pos_kernel_size, c.num_conv_pos_embedding_groups];
  const turned = (value: Value) => g.node('Transpose', [value], { perm: [0, 2, 1] });
  const ones = g.floats(new Float32Array(width).fill(1));
  let x = turned(steps);
  for (let i = 0; i < c.num_conv_pos_embeddings; i++) {
    const size = { from: width, to: width, kernel: [kernel], padding: [Math.floor(kernel / 2)], groups };
    const found = convolution(g, x, `${base}encoder.pos_conv_embed.layers.${i}.conv`, size);
    // An even kernel gives one step more.
    const kept = kernel % 2 === 0 ? g.node('Slice', [found, g.ints([0]), g.ints([-1]), g.ints([2])]) : found;
    const normed = g.node('LayerNormalization', [turned(kept), ones], { axis: -1, epsilon: float(EPSILON) });
    x = activation(g, turned(normed), c.feat_extract_activation);
  }
  return turned(x);
}

/** modeling_data2vec_audio.py */
export const data2vecAudio = defineFamily({
  modelTypes: ['data2vec-audio'],
  config,
  prefixes: [base],
  heads: waveHeads<Config>((c) => ({
    ...{ base, adapters: true, positions: (g, steps) => positions(g, steps, c) },
  })),
});
