import { activation } from '../../layers/activation.js';
import { attention } from '../../layers/attention.js';
import { linear } from '../../layers/linear.js';
import { layerNorm } from '../../layers/norm.js';
import { turnWaves } from '../../layers/position-grid.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { ELEMENTS } from '../../writer/tensors.js';
import { cellLayer, middlesInLevels, type PlacedLevels } from '../deformable-levels.js';
import type { GroundingConfig } from './config.js';
import { namedAttention, type Text } from './text.js';

/** What an image and a text are after each has seen the other. */
export interface Grounded {
  levels: PlacedLevels;
  text: Text;
}

interface LayerOf {
  c: GroundingConfig;
  at: (name: string) => string;
  /** int32 [rows, cells], 0 for padding. */
  shown: Value;
}

/** Cells look at tokens, and tokens at cells. */
function fused(
  g: GraphWriter,
  { levels, text }: Grounded,
  { c, at, shown }: LayerOf,
): Record<'cells' | 'tokens', Value> {
  const [width, inner] = [c.d_model, Math.floor(c.encoder_ffn_dim / 2)];
  const norm = { width, epsilon: c.layer_norm_eps };
  const cells = layerNorm(g, levels.tokens, at('layer_norm_vision'), norm);
  const tokens = layerNorm(g, text.x, at('layer_norm_text'), norm);
  const project = (x: Value, name: string) => linear(g, x, at(`attn.${name}`), { from: width, to: inner });
  const [ofCells, ofTokens] = [project(cells, 'vision_proj'), project(tokens, 'text_proj')];
  const options = { heads: Math.floor(c.encoder_attention_heads / 2), width: inner };
  const read = { query: ofCells, key: ofTokens, value: project(tokens, 'values_text_proj') };
  const seen = { query: ofTokens, key: ofCells, value: project(cells, 'values_vision_proj') };
  const added = (x: Value, found: Value, name: 'vision' | 'text') => {
    const out = linear(g, found, at(`attn.out_${name}_proj`), { from: inner, to: width });
    return g.node('Add', [x, g.node('Mul', [out, g.weight(at(`${name}_param`), [width])])]);
  };
  return {
    cells: added(cells, attention(g, read, { ...options, padding: text.padding }), 'vision'),
    tokens: added(tokens, attention(g, seen, { ...options, padding: shown }), 'text'),
  };
}

/** Tokens of a sentence look at each other. */
function enhanced(g: GraphWriter, x: Value, { bias, positions }: Text, { c, at }: LayerOf): Value {
  const [width, inner] = [c.d_model, Math.floor(c.encoder_ffn_dim / 2)];
  const norm = { width, epsilon: c.layer_norm_eps };
  const waves = g.once('places of tokens', () => {
    const numbers = g.node('Unsqueeze', [g.node('Cast', [positions], { to: ELEMENTS.float32 }), g.ints([2])]);
    return turnWaves(g, numbers, width);
  });
  const placed = g.node('Add', [x, waves]);
  const options = { heads: Math.floor(c.encoder_attention_heads / 2), width, bias };
  const seen = namedAttention(g, { query: placed, key: placed, value: x }, at('self_attn'), options);
  const middle = layerNorm(g, g.node('Add', [x, seen]), at('layer_norm_before'), norm);
  const wide = activation(g, linear(g, middle, at('fc1'), { from: width, to: inner }), c.activation_function);
  const narrow = linear(g, wide, at('fc2'), { from: inner, to: width });
  return layerNorm(g, g.node('Add', [narrow, middle]), at('layer_norm_after'), norm);
}

/** modeling_grounding_dino.py: GroundingDinoEncoder. */
export function grounded(g: GraphWriter, given: Grounded, c: GroundingConfig): Grounded {
  const middles = middlesInLevels(g, given.levels);
  const flat = g.node('Reshape', [given.levels.seen!, g.ints([0, -1])]);
  const shown = g.node('Cast', [flat], { to: ELEMENTS.int32 });
  let found = given;
  for (let i = 0; i < c.encoder_layers; i++) {
    const part = (name: string) => `model.encoder.layers.${i}.${name}`;
    const of = (name: string): LayerOf => ({ c, shown, at: (inner) => part(`${name}.${inner}`) });
    const { cells, tokens } = fused(g, found, of('fusion_layer'));
    const text = { ...found.text, x: enhanced(g, tokens, found.text, of('text_enhancer_layer')) };
    const looked = cellLayer(
      g,
      cells,
      { ...found.levels, middles },
      {
        ...{ name: part('deformable_layer'), width: c.d_model, heads: c.encoder_attention_heads },
        ...{ points: c.encoder_n_points, inner: c.encoder_ffn_dim },
        ...{ act: c.activation_function, epsilon: c.layer_norm_eps },
      },
    );
    found = { text, levels: { ...found.levels, tokens: looked } };
  }
  return found;
}
