import { attention } from '../../layers/attention.js';
import { linear } from '../../layers/linear.js';
import { layerNorm } from '../../layers/norm.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';

/** Of norms without a setting. */
const EPSILON = 1e-5;

/** How prompts and an image look at each other. */
export interface TwoWay {
  width: number;
  heads: number;
  layers: number;
  /** What the width of looks at the other side is divided by. */
  rate: number;
  epsilon: number;
  /** Name of the last layer of an attention. */
  out: string;
  /** Cells of a column and of a line of the image. */
  edge: number;
  /** Waves of positions. */
  waves: number;
  /** @param name of the layer's part, of the same width */
  feedForward(g: GraphWriter, x: Value, name: string): Value;
}

const OF_CELLS = 'shared_image_embedding.positional_embedding';

/** Turns of learned waves at positions between 0 and 1: float32 [..., 2] -> [..., 2 · waves]. */
export function waves(g: GraphWriter, positions: Value, count: number, name = OF_CELLS): Value {
  const table = g.weight(name, [2, count]);
  const centred = g.node('Sub', [g.node('Mul', [positions, g.scalar(2)]), g.scalar(1)]);
  const turns = g.node('Mul', [g.node('MatMul', [centred, table]), g.scalar(2 * Math.PI)]);
  return g.node('Concat', [g.node('Sin', [turns]), g.node('Cos', [turns])], { axis: -1 });
}

/** Waves of each cell of the image: float32 [1, cells, width]. */
function cellWaves(g: GraphWriter, { edge, waves: count }: TwoWay): Value {
  const shares = Array.from({ length: edge }, (_, i) => (i + 0.5) / edge);
  const ofAll = (dims: readonly number[]) =>
    g.node('Expand', [g.floats(shares, dims), g.ints([edge, edge, 1])]);
  const positions = g.node('Concat', [ofAll([1, edge, 1]), ofAll([edge, 1, 1])], { axis: 2 });
  return waves(g, g.node('Reshape', [positions, g.ints([1, -1, 2])]), count);
}

/** x [1, …, …] for each prompt. @param like [prompts, …] */
export function ofPrompts(g: GraphWriter, x: Value, like: Value): Value {
  const count = g.node('Shape', [like], { start: 0, end: 1 });
  return g.node('Expand', [x, g.node('Concat', [count, g.ints([1, 1])], { axis: 0 })]);
}

interface AttentionOf {
  c: TwoWay;
  name: string;
  query: Value;
  key: Value;
  value: Value;
  /** What the width within is divided by. */
  rate?: number;
}

/** Attention of states [prompts or 1, …, width], whose products are narrower. */
function narrowAttention(g: GraphWriter, prompts: Value, { c, name, rate = 1, ...read }: AttentionOf): Value {
  const width = Math.floor(c.width / rate);
  const project = (part: 'query' | 'key' | 'value', letter: string) => {
    const size = { from: c.width, to: width };
    return ofPrompts(g, linear(g, read[part], `${name}.${letter}_proj`, size), prompts);
  };
  const projected = { query: project('query', 'q'), key: project('key', 'k'), value: project('value', 'v') };
  const found = attention(g, projected, { heads: c.heads, width });
  return linear(g, found, `${name}.${c.out}`, { from: width, to: c.width });
}

interface States {
  /** float32 [prompts, tokens, width] */
  tokens: Value;
  /** float32 [prompts or 1, cells, width] */
  cells: Value;
}

/** Tokens look at each other and at the image, and the image at them. */
export function twoWay(g: GraphWriter, c: TwoWay, { tokens: first, cells: image }: States): States {
  const positions = cellWaves(g, c);
  const sum = (x: Value, y: Value) => g.node('Add', [x, y]);
  const name = (of: string) => `mask_decoder.transformer.${of}`;
  let [tokens, cells] = [first, image];
  const attend = (of: string, read: Omit<AttentionOf, 'c' | 'name'>) =>
    narrowAttention(g, first, { c, name: name(of), ...read });
  const { rate, width } = c;
  for (let i = 0; i < c.layers; i++) {
    const at = (of: string) => `layers.${i}.${of}`;
    const norm = (x: Value, number: number) =>
      layerNorm(g, x, name(at(`layer_norm${number}`)), { width, epsilon: c.epsilon });
    const own = i === 0 ? tokens : sum(tokens, first);
    const seen = attend(at('self_attn'), { query: own, key: own, value: tokens });
    tokens = norm(i === 0 ? seen : sum(tokens, seen), 1);
    const placed = sum(cells, positions);
    const looked = attend(at('cross_attn_token_to_image'), {
      ...{ query: sum(tokens, first), key: placed, value: cells, rate },
    });
    tokens = norm(sum(tokens, looked), 2);
    tokens = norm(sum(tokens, c.feedForward(g, tokens, name(at('mlp')))), 3);
    const back = attend(at('cross_attn_image_to_token'), {
      ...{ query: placed, key: sum(tokens, first), value: tokens, rate },
    });
    cells = norm(sum(cells, back), 4);
  }
  const last = attend('final_attn_token_to_image', {
    ...{ query: sum(tokens, first), key: sum(cells, positions), value: cells, rate },
  });
  tokens = layerNorm(g, sum(tokens, last), name('layer_norm_final_attn'), { width, epsilon: EPSILON });
  return { tokens, cells: ofPrompts(g, cells, first) };
}
