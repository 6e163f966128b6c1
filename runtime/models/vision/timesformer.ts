import * as z from 'zod';
import { type Family, defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { attention } from '../layers/attention.js';
import { headWidth } from '../layers/head-sizes.js';
import { linear } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { labelScores, meanToken } from '../bases/vision/image-heads.js';
import { patches, tokensFrom, withTokens } from '../layers/patch-embed.js';
import { splitRows } from '../layers/fused-projections.js';
import { firstToken } from '../bases/encoder/encoder-heads.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { epsilon } from '../config-fields.js';
import { gridSize, vitConfig, vitSizes } from '../bases/vision/vit-config.js';
import { videoInput } from '../bases/vision/tubelet-embed.js';

const config = z.object({
  ...vitConfig,
  layer_norm_eps: epsilon.default(1e-6),
  num_frames: z.int().min(1).max(1024).default(8),
  attention_type: z
    .literal('divided_space_time', 'attention to places and times at once is not known')
    .default('divided_space_time'),
});
type Config = z.output<typeof config>;

/** Patches of a frame, and frames. */
const countsOf = (c: Config) => {
  const [lines, columns] = gridSize(c.image_size, c.patch_size);
  return { positions: lines * columns, frames: c.num_frames, width: c.hidden_size };
};

/** float32 [rows · frames, positions, width] -> [rows, positions · frames, width], the frames of a position side by side. */
function byPlace(g: GraphWriter, x: Value, c: Config): Value {
  const { positions, frames, width } = countsOf(c);
  const apart = g.node('Reshape', [x, g.ints([-1, frames, positions, width])]);
  const turned = g.node('Transpose', [apart], { perm: [0, 2, 1, 3] });
  return g.node('Reshape', [turned, g.ints([-1, positions * frames, width])]);
}

/** The way back. */
function byFrame(g: GraphWriter, x: Value, c: Config): Value {
  const { positions, frames, width } = countsOf(c);
  const apart = g.node('Reshape', [x, g.ints([-1, positions, frames, width])]);
  const turned = g.node('Transpose', [apart], { perm: [0, 2, 1, 3] });
  return g.node('Reshape', [turned, g.ints([-1, positions, width])]);
}

/** A learned token, and all patches of all frames with their positions and times: float32 [rows, 1 + positions · frames, width]. */
function embedded(g: GraphWriter, c: Config): Value {
  const at = (name: string) => `timesformer.embeddings.${name}`;
  const { positions, frames, width } = countsOf(c);
  const flat = g.node('Reshape', [videoInput(g, c), g.ints([-1, c.num_channels, ...c.image_size])]);
  const { tokens } = patches(g, flat, at('patch_embeddings.projection'), {
    ...{ channels: c.num_channels, width, patch: c.patch_size },
  });
  const table = g.weight(at('position_embeddings'), [1, positions + 1, width]);
  const placed = byPlace(g, g.node('Add', [tokens, tokensFrom(g, table, 1)]), c);
  const timed = g.node('Add', [
    g.node('Reshape', [placed, g.ints([-1, frames, width])]),
    g.weight(at('time_embeddings'), [1, frames, width]),
  ]);
  const all = g.node('Reshape', [timed, g.ints([-1, positions * frames, width])]);
  const first = g.node('Add', [g.weight(at('cls_token'), [1, 1, width]), tokensFrom(g, table, 0, 1)]);
  return withTokens(g, all, [first]);
}

/** What tokens see of each other: float32 [rows, tokens, width]. */
function seen(g: GraphWriter, x: Value, at: (name: string) => string, c: Config): Value {
  const { width, heads } = vitSizes(c);
  const fused = linear(g, x, at('attention.qkv'), { from: width, to: 3 * width, bias: c.qkv_bias });
  const projected = splitRows(g, fused, { heads, keyHeads: heads, width: headWidth(width, heads) });
  return linear(g, attention(g, projected, { heads, width }), at('output.dense'), { from: width, to: width });
}

/** Each place through its frames, then each frame through its positions, of which all have the first token. */
function layer(g: GraphWriter, x: Value, at: (name: string) => string, c: Config): Value {
  const { width, epsilon, inner, act } = vitSizes(c);
  const { positions, frames } = countsOf(c);
  const normed = (value: Value, name: string) => layerNorm(g, value, at(name), { width, epsilon });
  const [first, rest] = [tokensFrom(g, x, 0, 1), tokensFrom(g, x, 1)];

  const timely = g.node('Reshape', [rest, g.ints([-1, frames, width])]);
  const through = seen(
    g,
    normed(timely, 'temporal_layernorm'),
    (name) => at(`temporal_attention.${name}`),
    c,
  );
  const together = g.node('Reshape', [through, g.ints([-1, positions * frames, width])]);
  const moved = linear(g, together, at('temporal_dense'), { from: width, to: width });
  const later = g.node('Add', [rest, moved]);

  const each = g.node('Expand', [first, g.ints([1, frames, 1])]);
  const firsts = g.node('Reshape', [each, g.ints([-1, 1, width])]);
  const spatial = g.node('Concat', [firsts, byFrame(g, later, c)], { axis: 1 });
  const around = seen(g, normed(spatial, 'layernorm_before'), (name) => at(`attention.${name}`), c);
  const ofFirst = g.node('Reshape', [tokensFrom(g, around, 0, 1), g.ints([-1, frames, width])]);
  const mean = g.node('Unsqueeze', [meanToken(g, ofFirst), g.ints([1])]);
  const ofRest = byPlace(g, tokensFrom(g, around, 1), c);

  const before = g.node('Concat', [first, later], { axis: 1 });
  const middle = g.node('Add', [before, g.node('Concat', [mean, ofRest], { axis: 1 })]);
  const read = normed(middle, 'layernorm_after');
  const wide = activation(g, linear(g, read, at('intermediate.dense'), { from: width, to: inner }), act);
  return g.node('Add', [middle, linear(g, wide, at('output.dense'), { from: inner, to: width })]);
}

const heads: Family<Config>['heads'] = {
  'video-classification': {
    model(g, c) {
      const sizes = vitSizes(c);
      let x = embedded(g, c);
      for (let i = 0; i < c.num_hidden_layers; i++)
        x = layer(g, x, (name) => `timesformer.encoder.layer.${i}.${name}`, c);
      const first = firstToken(g, layerNorm(g, x, 'timesformer.layernorm', sizes));
      g.output('logits', labelScores(g, first, sizes), 'float32', ['rows', sizes.labels]);
    },
  },
};

/** modeling_timesformer.py */
export const timesformer = defineFamily({
  ...{
    modelTypes: ['timesformer'],
    usualTask: 'video-classification',
    config,
    prefixes: ['timesformer.'],
    heads,
  },
});
