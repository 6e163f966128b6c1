import { writeField, writeInteger, writeNumber } from '../../onnx/protobuf.js';
import { finiteFloat, integer } from './numbers.js';

/** Attributes of a node: text, integers (safe ones), floats as `float(x)`, lists of integers, graphs. */
export type Attribute = string | number | readonly number[] | Float | Subgraph;
/** Undefined ones are left out. */
export type Attributes = Readonly<Record<string, Attribute | undefined>>;

interface Float {
  readonly float: number;
}

/** A graph inside of a node, as the content of its GraphProto. */
interface Subgraph {
  readonly graph: Uint8Array;
}

/** A number that ONNX takes as a float: 1 alone would be an integer. */
export const float = (value: number): Float => ({ float: value });

/** AttributeProto.AttributeType */
const [FLOAT, INT, STRING, GRAPH, INTS] = [1, 2, 3, 5, 7];

/** An attribute as a field of NodeProto. @throws GraphError for numbers that are none of its type */
export function attributeField(name: string, value: Attribute): Uint8Array {
  const named = (type: number, ...content: Uint8Array[]) =>
    writeField(5, writeField(1, name), ...content, writeNumber(20, type));
  if (typeof value === 'string') return named(STRING, writeField(4, value));
  if (typeof value === 'number') return named(INT, writeInteger(3, integer(value)));
  if ('graph' in value) return named(GRAPH, writeField(6, value.graph));
  if ('float' in value) return named(FLOAT, floatField(2, value.float));
  return named(INTS, ...value.map((one) => writeInteger(8, integer(one))));
}

function floatField(number: number, value: number): Uint8Array {
  const bytes = Buffer.alloc(5);
  bytes[0] = number * 8 + 5;
  bytes.writeFloatLE(finiteFloat(value), 1);
  return bytes;
}
