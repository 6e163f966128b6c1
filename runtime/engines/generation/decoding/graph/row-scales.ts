import { type Graph, type GraphNode, initializerShapes, opsetOf } from '../../../../onnx/graph.js';
import { floatScalar, int64Tensor, intAttribute, intsAttribute, onesTensor } from '../../../../onnx/make.js';

/**
 * Dynamic quantisation takes one scale from all of its input, so that in a batch each row's answer depends on its
 * neighbours. Here each row gets the scale that it would get alone, with the same formula and rounding
 * (DynamicQuantizeLinear of the ONNX standard); the products stay integers:
 * sum (y - zero)(w - w0) = sum y (w - w0) - zero * sum (w - w0), whose last sum is a constant.
 * Inputs of the quantised products have the shape [rows, tokens, width].
 * @returns the same graph where nothing is quantised like that
 */
export function withScalesPerRow(graph: Graph): Graph {
  // Before version 13 a tensor is quantised by one scale.
  if (opsetOf(graph) < 13) return graph;
  const shapes = initializerShapes(graph);
  const quantizers = graph.nodes.filter(({ op }) => op === 'DynamicQuantizeLinear');
  const extra = new Map<GraphNode, GraphNode[]>();
  const ones = new Set<number>();
  quantizers.forEach((quantizer, number) => {
    const users = graph.nodes.filter(({ inputs }) => inputs.includes(quantizer.outputs[0]!));
    const widths = users.map((user) => widthOf(user, quantizer, shapes));
    if (widths.some((width) => width === undefined)) return;
    extra.set(quantizer, quantized(quantizer, `slipway.scale${number}`, opsetOf(graph)));
    users.forEach((user, i) => {
      ones.add(widths[i]!);
      extra.set(user, product(user, `slipway.scale${number}`, widths[i]!));
    });
  });
  if (extra.size === 0) return graph;
  return {
    ...graph,
    nodes: graph.nodes.flatMap((node) => extra.get(node) ?? [node]),
    initializers: [
      ...graph.initializers,
      ...constants(),
      ...[...ones].map((width) => onesTensor(`slipway.ones${width}`, width)),
    ],
  };
}

/** Width of the input of a product that can be changed; undefined for any other use. */
function widthOf(
  { op, inputs }: GraphNode,
  quantizer: GraphNode,
  shapes: ReadonlyMap<string, readonly number[]>,
): number | undefined {
  const [values, weights, zero] = inputs;
  const fits = op === 'MatMulInteger' && values === quantizer.outputs[0] && zero === quantizer.outputs[2];
  const shape = shapes.get(weights!);
  return fits && shape?.length === 2 ? shape[0] : undefined;
}

const LEAST = 'slipway.least';
const MOST = 'slipway.255';
const AXES = 'slipway.axes12';
const FLAT = 'slipway.flat';

function constants(): Uint8Array[] {
  return [
    ...[floatScalar(LEAST, 1e-25), floatScalar(MOST, 255)],
    ...[int64Tensor(AXES, [1, 2]), int64Tensor(FLAT, [-1])],
  ];
}

const INT32 = 6;

/** Scale, zero point and values of each row; `${name}.zero` has the zero points as int32 [rows, 1, 1]. */
function quantized({ inputs, outputs }: GraphNode, name: string, opset: number): GraphNode[] {
  const x = inputs[0]!;
  const [y, scale] = outputs as [string, string];
  const at = (part: string) => `${name}.${part}`;
  // From version 18 on the axes are an input.
  const reduced = (op: string, to: string) =>
    opset >= 18 ? node(op, [x, AXES], to) : node(op, [x], to, [intsAttribute('axes', [1, 2])]);
  return [
    reduced('ReduceMax', at('max')),
    reduced('ReduceMin', at('min')),
    // The range has to hold zero, from -below to above, and be more than nothing for a row of zeros.
    node('Max', [at('max'), LEAST], at('above')),
    node('Neg', [at('min')], at('negated')),
    node('Relu', [at('negated')], at('below')),
    node('Add', [at('above'), at('below')], at('range')),
    node('Div', [at('range'), MOST], scale),
    node('Reshape', [scale, FLAT], at('scales')),
    node('QuantizeLinear', [at('below'), at('scales')], at('zero8'), [intAttribute('axis', 0)]),
    node('Cast', [at('zero8')], at('zero'), [intAttribute('to', INT32)]),
    node('Reshape', [at('zero8'), FLAT], at('zeros')),
    node('QuantizeLinear', [x, at('scales'), at('zeros')], y, [intAttribute('axis', 0)]),
  ];
}

function product(user: GraphNode, name: string, width: number): GraphNode[] {
  const [values, weights, , weightZero] = user.inputs as [string, string, string, string | undefined];
  const output = user.outputs[0]!;
  const at = (part: string) => `slipway.${output}.${part}`;
  const zeros = weightZero ? ['', weightZero] : [];
  return [
    { ...user, inputs: [values, weights, ...zeros], outputs: [at('raw')] },
    node('MatMulInteger', [`slipway.ones${width}`, weights, ...zeros], at('sums')),
    node('Mul', [`${name}.zero`, at('sums')], at('shift')),
    node('Sub', [at('raw'), at('shift')], output),
  ];
}

function node(op: string, inputs: string[], output: string, attributes: Uint8Array[] = []): GraphNode {
  return { op, inputs, outputs: [output], otherFields: attributes };
}
