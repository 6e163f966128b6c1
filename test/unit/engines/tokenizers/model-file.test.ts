import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { readModel } from '../../../../runtime/engines/tokenizers/sentencepiece/model-file.js';
import { writeField, writeNumber } from '../../../../runtime/onnx/protobuf.js';

const FILE = path.join(import.meta.dirname, '../../../fixtures/sentencepiece/t5/spiece.model');
const piece = (text: string | Uint8Array, ...more: Uint8Array[]) =>
  writeField(1, writeField(1, text), ...more);

test('reads pieces, scores and settings', async () => {
  const model = readModel(await readFile(FILE));
  expect(model.pieces.slice(0, 3).map(({ text, type }) => [text, type])).toEqual([
    ['<pad>', 3],
    ['</s>', 3],
    ['<unk>', 2],
  ]);
  expect(model).toMatchObject({ kind: 'unigram', byteFallback: false, unknown: { id: 2, text: '<unk>' } });
  expect(model.normalizer).toMatchObject({ addsPrefix: true, removesExtraBlanks: true, escapesBlanks: true });
});

test('pieces of long texts, and with fields that nobody knows, are read as the others', () => {
  const long = 'é'.repeat(100);
  const score = Buffer.from([0x15, 0, 0, 0x20, 0xc1]);
  const rows = [
    piece('a', score, writeNumber(3, 4)),
    piece(long, score),
    piece('b', writeNumber(9, 300), score),
  ];
  const { pieces } = readModel(Buffer.concat(rows));
  expect(pieces).toEqual([
    { text: 'a', score: -10, type: 4 },
    { text: long, score: -10, type: 1 },
    { text: 'b', score: -10, type: 1 },
  ]);
});

test('a model that is cut off is refused at every length', async () => {
  const bytes = await readFile(FILE);
  for (let length = 0; length < 2_000; length += 7)
    if (length !== bytes.length)
      expect(() => checked(bytes.subarray(0, length))).not.toThrow(/undefined|null/);
  expect(() => readModel(bytes.subarray(0, bytes.length - 1))).toThrow();
});

/** Cut between two pieces it is a smaller model; anywhere else it is refused by one of two errors. */
function checked(bytes: Uint8Array): void {
  try {
    readModel(bytes);
  } catch (error) {
    if (!['ProtobufError', 'TypeError'].includes((error as Error).name)) throw error;
  }
}

const UNSIGNED = Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
const NAN = Buffer.from([0x15, 0, 0, 0xc0, 0x7f]);

test.each([
  ['nothing', Buffer.alloc(0), /no pieces/],
  ['a text', Buffer.from('{"model": {}}'), /protobuf|type|pieces/i],
  ['a length beyond the file', Buffer.concat([Buffer.from([0x0a]), UNSIGNED]), /./],
  ['a piece that is no UTF-8', piece(Buffer.from([0xff, 0xfe])), /./],
  ['a score that is no number', piece('a', NAN), /no finite score/],
  ['an unknown kind', Buffer.concat([piece('a'), writeField(2, writeNumber(3, 9))]), /kind/],
  [
    'an unknown token that is not there',
    Buffer.concat([piece('a'), writeField(2, writeNumber(40, 5))]),
    /none of its/,
  ],
  [
    'a broken table',
    Buffer.concat([piece('a'), writeField(3, writeField(2, Buffer.alloc(9, 255)))]),
    /table of char/,
  ],
  ['a number where a text belongs', Buffer.concat([piece('a'), writeNumber(2, 7)]), /type/],
])('%s is refused', (_, bytes, message) => {
  expect(() => readModel(bytes)).toThrow(message);
});
