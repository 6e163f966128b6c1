import * as z from 'zod';
import { defineFamily } from '../family.js';
import { bucketBias } from '../layers/t5-relative-bias.js';
import { gridDistances } from '../layers/relative-position-index.js';
import { layerNorm } from '../layers/norm.js';
import { labelScores, meanToken, imageHeads } from '../bases/vision/image-heads.js';
import type { ImageModel } from '../bases/vision/image-encoder.js';
import { type Edges, patches, imageInput, tokensFrom, withTokens } from '../layers/patch-embed.js';
import { preNormLayer } from '../layers/pre-norm-layer.js';
import { firstToken } from '../bases/encoder/encoder-heads.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { gridSize, vitConfig, vitSizes } from '../bases/vision/vit-config.js';
import { VIT_NAMES } from './vit.js';

const config = z.object({
  ...vitConfig,
  use_absolute_position_embeddings: z.boolean().default(false),
  use_relative_position_bias: z.boolean().default(false),
  use_shared_relative_position_bias: z.boolean().default(false),
  layer_scale_init_value: z.number().default(0.1),
  use_mean_pooling: z.boolean().default(true),
});
type Config = z.output<typeof config>;

/** What a table adds to scores: its rows are distances of patches, and three for the token of the image. */
export function tokenDistances(
  g: GraphWriter,
  name: string,
  { grid: [lines, columns], heads }: { grid: Edges; heads: number },
): Value {
  const count = (2 * lines - 1) * (2 * columns - 1);
  const table = g.weight(name, [count + 3, heads]);
  const rows = g.once(`beit ${lines} ${columns}`, () => {
    const between = gridDistances(g, [lines, columns]);
    const patchesCount = lines * columns;
    const fill = (value: number, dims: readonly number[]) =>
      g.node('Expand', [g.ints([value], []), g.ints(dims)]);
    const first = g.node('Concat', [fill(count + 2, [1, 1]), fill(count, [1, patchesCount])], { axis: 1 });
    const others = g.node('Concat', [fill(count + 1, [patchesCount, 1]), between], { axis: 1 });
    return g.node('Concat', [first, others], { axis: 0 });
  });
  return bucketBias(g, rows, table);
}

const relativeBias = (g: GraphWriter, name: string, c: Config): Value =>
  tokenDistances(g, `${name}.relative_position_bias_table`, {
    ...{ grid: gridSize(c.image_size, c.patch_size), heads: c.num_attention_heads },
  });

function embed(g: GraphWriter, c: Config): Value {
  const at = (name: string) => `beit.embeddings.${name}`;
  const width = c.hidden_size;
  const pixels = imageInput(g, c.num_channels, c.image_size);
  const { tokens } = patches(g, pixels, at('patch_embeddings.projection'), {
    ...{ channels: c.num_channels, width, patch: c.patch_size },
  });
  const all = withTokens(g, tokens, [g.weight(at('cls_token'), [1, 1, width])]);
  if (!c.use_absolute_position_embeddings) return all;
  const [lines, columns] = gridSize(c.image_size, c.patch_size);
  return g.node('Add', [all, g.weight(at('position_embeddings'), [1, lines * columns + 1, width])]);
}

function statesOf(g: GraphWriter, c: Config): Value {
  let x = embed(g, c);
  const shared = c.use_shared_relative_position_bias
    ? relativeBias(g, 'beit.encoder.relative_position_bias', c)
    : undefined;
  for (let i = 0; i < c.num_hidden_layers; i++) {
    const at = (part: string) => `beit.encoder.layer.${i}.${part}`;
    const own = c.use_relative_position_bias
      ? relativeBias(g, at('attention.attention.relative_position_bias'), c)
      : undefined;
    const bias = own && shared ? g.node('Add', [own, shared]) : (own ?? shared);
    x = preNormLayer(g, x, {
      ...{ ...vitSizes(c), names: VIT_NAMES, at, bias, biases: { key: false } },
      scales: c.layer_scale_init_value > 0 ? ['lambda_1', 'lambda_2'] : undefined,
    });
  }
  return c.use_mean_pooling ? x : layerNorm(g, x, 'beit.layernorm', vitSizes(c));
}

const POOLER = 'beit.pooler.layernorm';

function pool(g: GraphWriter, states: Value, c: Config): Value {
  if (!c.use_mean_pooling) return firstToken(g, states);
  return layerNorm(g, meanToken(g, tokensFrom(g, states, 1)), POOLER, vitSizes(c));
}

const modelOf = (c: Config): ImageModel => ({
  ...vitSizes(c),
  states: (g) => statesOf(g, c),
  // Python saves none with what has no pooler.
  pool: (g, states) =>
    c.use_mean_pooling && !g.weights.has(`${POOLER}.weight`) ? undefined : pool(g, states, c),
  classify: (g, states) => labelScores(g, pool(g, states, c), vitSizes(c)),
});

/** modeling_beit.py */
export const beit = defineFamily({
  modelTypes: ['beit'],
  readers: { processor: 'Beit' },
  config,
  prefixes: ['beit.'],
  heads: imageHeads(modelOf),
  image: modelOf,
});
