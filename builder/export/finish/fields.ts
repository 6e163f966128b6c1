import { bytesReader, contentText, fieldsOf } from '../../../runtime/onnx/protobuf.js';

/** The number of a field that is given with its tag. */
export const numberOf = (field: Uint8Array): number => [...fieldsOf(bytesReader(field))][0]!.number;

/** What a field that is given with its tag holds. */
export function contentOf(field: Uint8Array): Uint8Array {
  const [first] = fieldsOf(bytesReader(field));
  return field.subarray(first!.start, first!.end);
}

/** Contents of the fields of a message with one of these numbers, where they are texts or messages. */
export function contentsIn(message: Uint8Array, ...numbers: number[]): Uint8Array[] {
  return Array.from(fieldsOf(bytesReader(message)))
    .filter(({ number, wire }) => wire === 2 && numbers.includes(number))
    .map(({ start, end }) => message.subarray(start, end));
}

/** Texts of a message's fields of a number. */
export function textsIn(message: Uint8Array, number: number): string[] {
  const reader = bytesReader(message);
  return Array.from(fieldsOf(reader))
    .filter((field) => field.number === number)
    .map((field) => contentText(reader, field));
}
