import { graphFields, type GraphNode } from '../../onnx/graph.js';
import { writeField } from '../../onnx/protobuf.js';
import type { Attributes } from './attributes.js';
import { type ElementName, ELEMENTS, shapedType } from './tensors.js';

/** As in graph-writer.ts, which writes these. */
type Value = string;
type Shape = readonly (number | string)[];

interface Shaped {
  value: Value;
  shape: Shape;
  /** float32 if absent. */
  type?: ElementName;
}

/** Tensors that a scan starts with; shapes are those of a state, and of one slice. */
export interface Carried {
  states: readonly Shaped[];
  slices: readonly Shaped[];
}

/** What a step of a scan makes: as many states as it got. */
export interface Stepped {
  states: readonly Value[];
  given: readonly Shaped[];
}

/** Nodes that hold graphs, which read what is around them, too. */
export interface InnerGraphs {
  /**
   * One of two values, of which only that one is computed. Memory inside is planned apart, so what has as many rows as it happens
   * to have is best made there: ONNX Runtime compares every tensor of a graph with all before it that had another size.
   * @param condition bool scalar @param shape of the float32 that both give
   */
  either(condition: Value, shape: Shape, ways: { yes(): Value; no(): Value }): Value;
  /**
   * Goes through slices of tensors [slices, …] one after the other, carrying states along. All are float32.
   * @param step what a slice makes of the states, and what it gives beside them
   * @returns the last states, then what was given, each with an axis of slices before its own
   */
  scan(carried: Carried, step: (states: Value[], slices: Value[]) => Stepped): Value[];
  /**
   * Takes steps as long as one says so, carrying float32 states along.
   * @param most int64 scalar: steps at most @param step whether another one follows (bool scalar), and what a scan's step makes;
   * `index` is an int64 scalar @returns the last states, then what was given, each with an axis of steps before its own
   */
  loop(
    most: Value,
    states: readonly Shaped[],
    step: (index: Value, states: Value[]) => Stepped & { goesOn: Value },
  ): Value[];
}

interface Around {
  node(op: string, inputs: readonly Value[], attributes: Attributes): Value;
  nodes(op: string, inputs: readonly Value[], options: { outputs: number; attributes: Attributes }): Value[];
  /** What is written goes into this list. */
  inside<T>(list: GraphNode[], write: () => T): T;
  /** A name that nothing has yet. */
  name(): Value;
}

export function createInnerGraphs({ inside, node, nodes, name }: Around): InnerGraphs {
  return {
    either(condition, shape, { yes, no }) {
      const branch = (write: () => Value) => {
        const inner: GraphNode[] = [];
        const value = inside(inner, write);
        return subgraph(`branch ${value}`, { nodes: inner, inputs: [], outputs: [{ value, shape }] });
      };
      return node('If', [condition], { then_branch: branch(yes), else_branch: branch(no) });
    },
    scan({ states, slices }, step) {
      const inner: GraphNode[] = [];
      const inputs = [...states, ...slices].map(({ shape }) => ({ value: name(), shape }));
      const names = inputs.map(({ value }) => value);
      const made = inside(inner, () => step(names.slice(0, states.length), names.slice(states.length)));
      const next = made.states.map((value, i) => ({ value, shape: states[i]!.shape }));
      const outputs = [...next, ...made.given];
      const body = subgraph(`step ${names[0]}`, { nodes: inner, inputs, outputs });
      const given = [...states, ...slices].map(({ value }) => value);
      const attributes = { body, num_scan_inputs: slices.length };
      return nodes('Scan', given, { outputs: outputs.length, attributes });
    },
    loop(most, states, step) {
      const inner: GraphNode[] = [];
      const index: Shaped = { value: name(), shape: [], type: 'int64' };
      const before: Shaped = { value: name(), shape: [], type: 'bool' };
      const carried = states.map(({ shape }) => ({ value: name(), shape }));
      const made = inside(inner, () =>
        step(
          index.value,
          carried.map(({ value }) => value),
        ),
      );
      const next = made.states.map((value, i) => ({ value, shape: states[i]!.shape }));
      const goesOn: Shaped = { value: made.goesOn, shape: [], type: 'bool' };
      const inputs = [index, before, ...carried];
      const outputs = [goesOn, ...next, ...made.given];
      const body = subgraph(`steps ${index.value}`, { nodes: inner, inputs, outputs });
      const given = [most, '', ...states.map(({ value }) => value)];
      return nodes('Loop', given, { outputs: outputs.length - 1, attributes: { body } });
    },
  };
}

interface Subgraph {
  nodes: GraphNode[];
  inputs: readonly Shaped[];
  outputs: readonly Shaped[];
}

function subgraph(name: string, { nodes, inputs, outputs }: Subgraph): { graph: Uint8Array } {
  const shaped = ({ value, shape, type = 'float32' }: Shaped) => ({
    ...{ name: value, type: shapedType(ELEMENTS[type], shape) },
  });
  const fields = { nodes, inputs: inputs.map(shaped), outputs: outputs.map(shaped), initializers: [] };
  return { graph: Buffer.concat(graphFields({ ...fields, otherFields: [writeField(2, name)] })) };
}
