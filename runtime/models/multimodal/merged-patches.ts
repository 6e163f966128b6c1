import { linear } from '../layers/linear.js';
import { rmsNorm } from '../layers/norm.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import type { Tower } from './image-tower.js';
import { projected } from './projector.js';

export interface MergedPatches {
  tower: Tower;
  /** Layers of it that are computed. */
  number: number;
  /** Patches along an edge of what becomes one feature. */
  edge: number;
  /** Of the norm before they are merged. */
  epsilon: number;
  /** Width of the language model. */
  to: number;
  act: string;
  bias: boolean;
  /** Images may have patches that fill no square, which are left out. */
  leavesOut?: boolean;
}

/** Declares `image_features` [features, width] of one image, whose neighbouring patches are merged. */
export function writeMergedFeatures(g: GraphWriter, { tower, edge, to, ...c }: MergedPatches): void {
  if (!tower.anySize) throw new GraphError('config.json: vision_config is no encoder of images of any size');
  const { states, grid } = tower.anySize(g, c.number);
  const at = (name: string) => `multi_modal_projector.${name}`;
  const { width } = tower;
  const normed = rmsNorm(g, states.at(-1)!, at('norm'), { width, epsilon: c.epsilon });
  const whole = c.leavesOut ? wholeSquares(g, normed, grid, { edge, width }) : normed;
  const squares = unfolded(g, whole, grid, { edge, width });
  const size = { from: width * edge * edge, to: width, bias: false };
  const merged = linear(g, squares, at('patch_merger.merging_layer'), size);
  const features = projected(g, merged, { from: width, to, act: c.act, bias: c.bias });
  g.output('image_features', features, 'float32', ['features', to]);
}

interface Squares {
  edge: number;
  width: number;
}

/** Without the last lines and columns, where they are too few for a square. */
function wholeSquares(g: GraphWriter, x: Value, grid: Value, { edge, width }: Squares): Value {
  const lines = g.node('Reshape', [x, g.node('Concat', [g.ints([-1]), grid, g.ints([width])], { axis: 0 })]);
  const kept = g.node('Mul', [g.node('Div', [grid, g.ints([edge], [])]), g.ints([edge], [])]);
  return g.node('Slice', [lines, g.ints([0, 0]), kept, g.ints([1, 2])]);
}

/** Squares of neighbours as one, with the channels outermost: float32 [features, width · edge²]. */
function unfolded(g: GraphWriter, x: Value, grid: Value, { edge, width }: Squares): Value {
  const [down, across] = g.nodes('Split', [g.node('Div', [grid, g.ints([edge], [])]), g.ints([1, 1])], {
    ...{ outputs: 2, attributes: { axis: 0 } },
  }) as [Value, Value];
  const shape = g.node('Concat', [down, g.ints([edge]), across, g.ints([edge, width])], { axis: 0 });
  const squares = g.node('Transpose', [g.node('Reshape', [x, shape])], { perm: [0, 2, 4, 1, 3] });
  return g.node('Reshape', [squares, g.ints([-1, width * edge * edge])]);
}

/** A configuration with the epsilon of its language model's norms beside it. @param absent stands for one that is left out */
export function withNormEpsilon(given: unknown, absent: { rms_norm_eps: number }): object {
  const { text_config: text } = given as { text_config?: { rms_norm_eps?: unknown } | null };
  return { ...(given as object), norm_eps: (text ?? absent).rms_norm_eps };
}
