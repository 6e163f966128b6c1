import { activation } from '../../blocks/activation.js';
import { attention } from '../../blocks/attention.js';
import { linear } from '../../blocks/linear.js';
import { layerNorm } from '../../blocks/norm.js';
import type { GraphWriter, Value } from '../../graph-writer.js';
import type { SamConfig } from './sam-config.js';

/** Of norms without a setting. */
const EPSILON = 1e-5;

/** Turns of learnt waves at places between 0 and 1: float32 [..., 2] -> [..., width]. */
export function waves(g: GraphWriter, places: Value, { pictures }: SamConfig): Value {
  const table = g.weight('shared_image_embedding.positional_embedding', [2, pictures.num_pos_feats]);
  const centred = g.node('Sub', [g.node('Mul', [places, g.scalar(2)]), g.scalar(1)]);
  const turns = g.node('Mul', [g.node('MatMul', [centred, table]), g.scalar(2 * Math.PI)]);
  return g.node('Concat', [g.node('Sin', [turns]), g.node('Cos', [turns])], { axis: -1 });
}

/** Waves of each cell of the picture: float32 [1, cells, width]. */
function cellWaves(g: GraphWriter, c: SamConfig): Value {
  const { edge } = c.pictures;
  const shares = Array.from({ length: edge }, (_, i) => (i + 0.5) / edge);
  const ofAll = (dims: readonly number[]) =>
    g.node('Expand', [g.floats(shares, dims), g.ints([edge, edge, 1])]);
  const places = g.node('Concat', [ofAll([1, edge, 1]), ofAll([edge, 1, 1])], { axis: 2 });
  return waves(g, g.node('Reshape', [places, g.ints([1, -1, 2])]), c);
}

/** x [1, …, …] for each prompt. @param like [prompts, …] */
export function ofPrompts(g: GraphWriter, x: Value, like: Value): Value {
  const count = g.node('Shape', [like], { start: 0, end: 1 });
  return g.node('Expand', [x, g.node('Concat', [count, g.ints([1, 1])], { axis: 0 })]);
}

interface AttentionOf {
  c: SamConfig['masks'];
  name: string;
  query: Value;
  key: Value;
  value: Value;
  /** What the width within is divided by. */
  rate?: number;
}

/** Attention of states [prompts or 1, …, width], whose products are narrower. */
function narrowAttention(g: GraphWriter, prompts: Value, { c, name, rate = 1, ...read }: AttentionOf): Value {
  const width = Math.floor(c.hidden_size / rate);
  const project = (part: 'query' | 'key' | 'value', letter: string) => {
    const size = { from: c.hidden_size, to: width };
    return ofPrompts(g, linear(g, read[part], `${name}.${letter}_proj`, size), prompts);
  };
  const projected = { query: project('query', 'q'), key: project('key', 'k'), value: project('value', 'v') };
  const found = attention(g, projected, { heads: c.num_attention_heads, width });
  return linear(g, found, `${name}.out_proj`, { from: width, to: c.hidden_size });
}

interface States {
  /** float32 [prompts, tokens, width] */
  tokens: Value;
  /** float32 [prompts or 1, cells, width] */
  cells: Value;
}

/** Tokens look at each other and at the picture, and the picture at them. */
export function twoWay(g: GraphWriter, c: SamConfig, { tokens: first, cells: picture }: States): States {
  const masks = c.masks;
  const places = cellWaves(g, c);
  const sum = (x: Value, y: Value) => g.node('Add', [x, y]);
  let [tokens, cells] = [first, picture];
  const attend = (name: string, read: Omit<AttentionOf, 'c' | 'name'>) =>
    narrowAttention(g, first, { c: masks, name: `mask_decoder.transformer.${name}`, ...read });
  const rate = masks.attention_downsample_rate;
  for (let i = 0; i < masks.num_hidden_layers; i++) {
    const at = (name: string) => `layers.${i}.${name}`;
    const norm = (x: Value, number: number) =>
      layerNorm(g, x, `mask_decoder.transformer.${at(`layer_norm${number}`)}`, {
        ...{ width: masks.hidden_size, epsilon: masks.layer_norm_eps },
      });
    const own = i === 0 ? tokens : sum(tokens, first);
    const seen = attend(at('self_attn'), { query: own, key: own, value: tokens });
    tokens = norm(i === 0 ? seen : sum(tokens, seen), 1);
    const placed = sum(cells, places);
    const looked = attend(at('cross_attn_token_to_image'), {
      ...{ query: sum(tokens, first), key: placed, value: cells, rate },
    });
    tokens = norm(sum(tokens, looked), 2);
    tokens = norm(sum(tokens, feedForward(g, tokens, masks, at('mlp'))), 3);
    const back = attend(at('cross_attn_image_to_token'), {
      ...{ query: placed, key: sum(tokens, first), value: tokens, rate },
    });
    cells = norm(sum(cells, back), 4);
  }
  const last = attend('final_attn_token_to_image', {
    ...{ query: sum(tokens, first), key: sum(cells, places), value: cells, rate },
  });
  const norm = { width: masks.hidden_size, epsilon: EPSILON };
  tokens = layerNorm(g, sum(tokens, last), 'mask_decoder.transformer.layer_norm_final_attn', norm);
  return { tokens, cells: ofPrompts(g, cells, first) };
}

function feedForward(g: GraphWriter, x: Value, c: SamConfig['masks'], at: string): Value {
  const name = `mask_decoder.transformer.${at}`;
  const wide = linear(g, x, `${name}.lin1`, { from: c.hidden_size, to: c.mlp_dim });
  return linear(g, activation(g, wide, c.hidden_act), `${name}.lin2`, { from: c.mlp_dim, to: c.hidden_size });
}
