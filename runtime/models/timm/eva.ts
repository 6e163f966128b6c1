import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { gated } from '../layers/swiglu.js';
import { centredTurns, referredTurns } from '../layers/rope-2d.js';
import { headWidth } from '../layers/head-sizes.js';
import { linear } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { preNormLayer } from '../layers/pre-norm-layer.js';
import { rotate, type Rotary } from '../layers/rope.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { countOf, shapeOf, type TimmConfig, timmConfig, timmHeads } from './config.js';
import { fusedProjections } from './fused-projections.js';
import { LAYER_NAMES } from './layer-names.js';
import { type Embedded, embedded, pooledTokens } from './learned-tokens.js';
import { evaKind, type EvaKind } from './vit-kinds.js';

/** Of projections that are apart, as larger ones are. */
const APART = { query: 'attn.q_proj', key: 'attn.k_proj', value: 'attn.v_proj' };
interface EvaSize extends EvaKind {
  width: number;
  turnedBy: Rotary | undefined;
}

/** What turns the heads of patches; undefined where positions are added only. */
function turnsOf(g: GraphWriter, { x, grid, learned, width }: Embedded, kind: EvaKind): Rotary | undefined {
  if (kind.turns === undefined) return undefined;
  const rows = g.node('Shape', [x], { start: 0, end: 1 });
  const positions = { grid: g.ints(grid), rows, learned, width: headWidth(width, kind.heads) };
  if (kind.turns === 'centred') return centredTurns(g, positions, 100);
  return referredTurns(g, positions, { base: 10_000, reference: 16 });
}

/** Two layers; or gates beside what they let through, in two layers or in one, with a norm behind them in larger networks. */
function feedForward(g: GraphWriter, x: Value, at: (name: string) => string, size: EvaSize): Value {
  const { width, epsilon } = size;
  const [, inner] = shapeOf(g, at('fc2.weight'), 2);
  const wide = (name: string, to: number) => linear(g, x, at(name), { from: width, to });
  const narrow = (value: Value) => linear(g, value, at('fc2'), { from: inner, to: width });
  if (!g.weights.has(at('fc1_g.weight'))) {
    const [both] = shapeOf(g, at('fc1.weight'), 2);
    const found = wide('fc1', both);
    return narrow(both === inner ? activation(g, found, 'gelu') : gated(g, found, { inner, act: 'silu' }));
  }
  const product = g.node('Mul', [activation(g, wide('fc1_g', inner), 'silu'), wide('fc1_x', inner)]);
  const isNormed = g.weights.has(at('norm.weight'));
  return narrow(isNormed ? layerNorm(g, product, at('norm'), { width: inner, epsilon }) : product);
}

function layer(g: GraphWriter, x: Value, at: (name: string) => string, size: EvaSize): Value {
  const { width, heads, turns, turnedBy } = size;
  const ofHeads = { heads, width: headWidth(width, heads), interleaved: turns === 'referred' };
  const isFused = g.weights.has(at('attn.qkv.weight'));
  const has = (name: string) => g.weights.has(at(name));
  return preNormLayer(g, x, {
    ...{ ...size, at, names: isFused ? LAYER_NAMES : { ...LAYER_NAMES, ...APART }, inner: 0, act: 'gelu' },
    biases: { key: false },
    project: isFused ? (_, read) => fusedProjections(g, read, at, size) : undefined,
    ...(turnedBy && { turn: (found) => rotate(g, found, turnedBy, ofHeads) }),
    behind: has('attn.norm.weight') ? (_, seen) => layerNorm(g, seen, at('attn.norm'), size) : undefined,
    scales: has('gamma_1') ? ['gamma_1', 'gamma_2'] : undefined,
    feedForward: (_, read) => feedForward(g, read, (name) => at(`mlp.${name}`), size),
  });
}

function states(g: GraphWriter, c: TimmConfig): Value {
  const kind = evaKind(c.architecture);
  const first = embedded(g, c);
  const { width } = first;
  const size = { ...kind, width, turnedBy: turnsOf(g, first, kind) };
  let { x } = first;
  const count = countOf(g, (place) => `blocks.${place}.norm1.weight`);
  for (let i = 0; i < count; i++) x = layer(g, x, (name) => `blocks.${i}.${name}`, size);
  return g.weights.has('norm.weight') ? layerNorm(g, x, 'norm', size) : x;
}

/** timm's eva.py: EVA, EVA-02 and DINO v3. */
export const timmEva = defineFamily({
  modelTypes: ['timm_eva'],
  config: timmConfig,
  prefixes: ['timm_model.'],
  heads: timmHeads({
    states,
    shape: ['rows', 'tokens', 'width'],
    pool: (g, x, c) => pooledTokens(g, x, evaKind(c.architecture)),
    poolName: (_, c) => (evaKind(c.architecture).isMean ? 'avg' : 'token'),
    head: 'head',
  }),
});
