import { elementType, type Graph, type GraphNode, isOwn } from '../../../../onnx/graph.js';
import { int64Tensor, typeOfElements } from '../../../../onnx/make.js';

/**
 * From which of the fed tokens on a run gives scores: int64 [1], -1 for the last one alone. An input that we add: most runs
 * want the last scores only, and those of a prompt's other tokens are most of what it costs where the vocabulary is large.
 */
export const SCORES_INPUT = 'slipway.scores_from';

/** SCORES_INPUT of a run whose last scores alone are looked at. */
export const LAST_ONLY = -1;

const INT64 = 7;
const PREFIX = 'slipway';
const TO_THE_END = 2 ** 53;

/** Operators that turn hidden states into scores. */
const HEADS = new Set(['MatMul', 'Gemm', 'MatMulNBits', 'FusedMatMul']);
/** Operators between them and the output that treat each score alone. */
const ELEMENTWISE = new Set(['Cast', 'Mul', 'Div', 'Tanh', 'Identity', 'Add']);

/**
 * Computes scores from the token on that SCORES_INPUT says.
 * @returns the same graph where its end has another form: it gives the scores that it gave
 */
export function withChosenScores(graph: Graph, output = 'logits'): Graph {
  const nodes = isOwn(graph) ? movedCut(graph, output) : cutBeforeHead(graph, output);
  if (!nodes) return graph;
  return {
    ...graph,
    nodes,
    inputs: [...graph.inputs, { name: SCORES_INPUT, type: typeOfElements(INT64) }],
    outputs: graph.outputs.map((value) =>
      value.name === output ? { ...value, type: typeOfElements(elementType(value)!) } : value,
    ),
    initializers: isOwn(graph)
      ? graph.initializers
      : [...graph.initializers, int64Tensor(AXIS, [1]), int64Tensor(END, [TO_THE_END])],
  };
}

const AXIS = `${PREFIX}.axis1`;
const END = `${PREFIX}.ever`;

/** Of a graph that gives all scores: hidden states are cut before they become scores. */
function cutBeforeHead({ nodes, outputs }: Graph, output: string): GraphNode[] | undefined {
  if (!outputs.some(({ name }) => name === output)) return undefined;
  const head = headOf(nodes, output);
  if (!head) return undefined;
  const [hidden, ...weights] = head.inputs as [string, ...string[]];
  const chosen = `${PREFIX}.chosenHidden`;
  const slice: GraphNode = {
    ...{ op: 'Slice', inputs: [hidden, SCORES_INPUT, END, AXIS], outputs: [chosen], otherFields: [] },
  };
  return nodes.flatMap((each) =>
    each === head ? [slice, { ...head, inputs: [chosen, ...weights] }] : [each],
  );
}

const makersOf = (nodes: readonly GraphNode[]) =>
  new Map(nodes.flatMap((each) => each.outputs.map((name) => [name, each] as const)));

function headOf(nodes: readonly GraphNode[], output: string): GraphNode | undefined {
  const makers = makersOf(nodes);
  let maker = makers.get(output);
  for (let steps = 0; maker && ELEMENTWISE.has(maker.op) && steps < 8; steps++) {
    maker = maker.inputs.map((name) => makers.get(name)).find((each) => each !== undefined);
  }
  return maker && HEADS.has(maker.op) ? maker : undefined;
}

/** Of a graph of ours, whose last states are cut to those of the last token (models/bases/decoder/decoder-heads.ts): the cut moves. */
function movedCut({ nodes }: Graph, output: string): GraphNode[] | undefined {
  const cuts = nearestSlices(nodes, output);
  const [cut] = cuts;
  if (!cut || cuts.size > 1) return undefined;
  const [states, , ...rest] = cut.inputs as [string, string, ...string[]];
  return nodes.map((each) => (each === cut ? { ...cut, inputs: [states, SCORES_INPUT, ...rest] } : each));
}

/** The slices that an output is made of without another slice between. */
function nearestSlices(nodes: readonly GraphNode[], output: string): Set<GraphNode> {
  const makers = makersOf(nodes);
  const found = new Set<GraphNode>();
  const seen = new Set<string>();
  for (const waiting = [output]; waiting.length > 0;) {
    const name = waiting.pop()!;
    const maker = makers.get(name);
    if (!maker || seen.has(name)) continue;
    seen.add(name);
    if (maker.op === 'Slice') found.add(maker);
    else waiting.push(...maker.inputs);
  }
  return found;
}
