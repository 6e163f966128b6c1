import { defineFamily } from '../family.js';
import { layerNorm } from '../layers/norm.js';
import type { Edges } from '../layers/patch-embed.js';
import { preNormLayer } from '../layers/pre-norm-layer.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { tokenDistances } from '../vision/beit.js';
import { countOf, shapeOf, type TimmConfig, timmConfig, timmHeads } from './config.js';
import { fusedProjections } from './fused-projections.js';
import { LAYER_NAMES } from './layer-names.js';
import { embedded, pooledTokens } from './learned-tokens.js';

const EPSILON = 1e-6;
interface Place {
  at: (name: string) => string;
  width: number;
  grid: Edges;
}

function layer(g: GraphWriter, x: Value, { at, width, grid }: Place): Value {
  const table = at('attn.relative_position_bias_table');
  const [, heads] = shapeOf(g, table, 2);
  const [inner] = shapeOf(g, at('mlp.fc1.weight'), 2);
  const size = { width, inner, heads, epsilon: EPSILON, act: 'gelu' };
  return preNormLayer(g, x, {
    ...{ ...size, at, names: LAYER_NAMES, bias: tokenDistances(g, table, { grid, heads }) },
    project: (_, read) => fusedProjections(g, read, at, size),
    scales: g.weights.has(at('gamma_1')) ? ['gamma_1', 'gamma_2'] : undefined,
  });
}

function states(g: GraphWriter, c: TimmConfig): Value {
  const { x: first, width, grid } = embedded(g, c);
  const count = countOf(g, (place) => `blocks.${place}.norm1.weight`);
  let x = first;
  for (let i = 0; i < count; i++) x = layer(g, x, { at: (name) => `blocks.${i}.${name}`, width, grid });
  return g.weights.has('norm.weight') ? layerNorm(g, x, 'norm', { width, epsilon: EPSILON }) : x;
}

/** timm's beit.py: BEiT of both versions. */
export const timmBeit = defineFamily({
  modelTypes: ['timm_beit'],
  config: timmConfig,
  prefixes: ['timm_model.'],
  heads: timmHeads({
    states,
    shape: ['rows', 'tokens', 'width'],
    pool: (g, x) => pooledTokens(g, x, { isMean: true, epsilon: EPSILON }),
    head: 'head',
  }),
});
