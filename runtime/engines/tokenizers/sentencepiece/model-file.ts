import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { RunError } from '../../../core/errors.js';
import {
  bytesReader,
  contentBytes,
  type Field,
  fieldsOf,
  ProtobufError,
  varint,
} from '../../../onnx/protobuf.js';

/** What kind of piece: those of words, the unknown one, control symbols, symbols of the trainer's user, bytes. */
export const PIECE = { normal: 1, unknown: 2, control: 3, user: 4, unused: 5, byte: 6 } as const;

export interface Piece {
  text: string;
  /** Logarithm of its probability, as float32 has it. */
  score: number;
  /** One of PIECE. */
  type: number;
}

/** How the words of the model are cut. */
export type ModelKind = 'unigram' | 'bpe' | 'word' | 'char';

/** A trained model of sentencepiece, as far as tokenizers are made of it. */
export interface SentencePieceModel {
  pieces: Piece[];
  kind: ModelKind;
  byteFallback: boolean;
  unknown: { id: number; text: string; surface: string };
  normalizer: {
    /** Double-array trie and replacements; empty for none. */
    charsMap: Uint8Array;
    addsPrefix: boolean;
    removesExtraBlanks: boolean;
    escapesBlanks: boolean;
  };
  /** Blanks are marked behind words, not before them. */
  blankBehind: boolean;
}

/** The largest published models have 18 MB and 256,000 pieces. */
const MOST_BYTES = 128 * 2 ** 20;
const MOST_PIECES = 2 ** 21;
const KINDS: readonly (ModelKind | undefined)[] = [undefined, 'unigram', 'bpe', 'word', 'char'];

/**
 * Reads a model file of sentencepiece.
 * @throws RunError `not_ready` for a file that is missing, too large or no such model
 */
export async function readModelFile(dir: string, name: string): Promise<SentencePieceModel> {
  const bytes = await wholeFile(dir, name);
  try {
    return readModel(bytes);
  } catch (cause) {
    if (!(cause instanceof ProtobufError || cause instanceof TypeError)) throw cause;
    throw new RunError('not_ready', `the model's ${name} is no sentencepiece model: ${cause.message}`, {
      cause,
    });
  }
}

async function wholeFile(dir: string, name: string): Promise<Buffer> {
  const handle = await open(join(dir, name)).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ENOENT') throw cause;
    throw new RunError('not_ready', `the model has neither tokenizer.json nor ${name}`);
  });
  try {
    const { size } = await handle.stat();
    if (size > MOST_BYTES)
      throw new RunError('not_ready', `the model's ${name} has more than ${MOST_BYTES} bytes`);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

/**
 * @throws ProtobufError for bytes that are no model of sentencepiece
 * @throws TypeError for texts that are no UTF-8
 */
export function readModel(bytes: Uint8Array): SentencePieceModel {
  const message = messageOf(bytes);
  const rows = message.all(1);
  if (rows.length === 0) throw new ProtobufError('it has no pieces');
  if (rows.length > MOST_PIECES) throw new ProtobufError(`it has more than ${MOST_PIECES} pieces`);
  const [trainer, normalizer] = [2, 3].map((number) => messageOf(message.bytes(number)));
  const kind = KINDS[trainer!.number(3, 1)];
  const unknownId = trainer!.number(40, 0);
  if (!kind) throw new ProtobufError('it is of a kind that nobody knows');
  if (unknownId >= rows.length) throw new ProtobufError('its unknown token is none of its pieces');
  return {
    kind,
    pieces: rows.map(pieceOf),
    byteFallback: trainer!.number(35, 0) !== 0,
    unknown: { id: unknownId, text: trainer!.text(45, '<unk>'), surface: trainer!.text(44, ' \u2047 ') },
    blankBehind: trainer!.number(24, 0) !== 0,
    normalizer: {
      charsMap: checkedCharsMap(normalizer!.bytes(2)),
      addsPrefix: normalizer!.number(3, 1) !== 0,
      removesExtraBlanks: normalizer!.number(4, 1) !== 0,
      escapesBlanks: normalizer!.number(5, 1) !== 0,
    },
  };
}

/** Read by hand, since a model has hundreds of thousands of them. Fields and errors are those of `messageOf`. */
function pieceOf(bytes: Uint8Array): Piece {
  const piece: Piece = { text: '', score: 0, type: PIECE.normal };
  let at = 0;
  const short = (): number => {
    const byte = bytes[at]!;
    if (!(byte < 0x80)) return NaN;
    at++;
    return byte;
  };
  while (at < bytes.length) {
    const tag = short();
    const size = tag === TEXT || tag === TYPE ? short() : 4;
    if (tag === TEXT && at + size <= bytes.length) {
      piece.text = UTF8.decode(bytes.subarray(at, at + size));
      at += size;
    } else if (tag === SCORE && at + size <= bytes.length) {
      piece.score = new DataView(bytes.buffer, bytes.byteOffset + at, 4).getFloat32(0, true);
      at += size;
    } else if (tag === TYPE && size >= 0) piece.type = size;
    else return unusualPieceOf(bytes);
  }
  if (!Number.isFinite(piece.score)) throw new ProtobufError('a piece has no finite score');
  return piece;
}

/** Tags of a piece's fields: number and type of each. */
const [TEXT, SCORE, TYPE] = [0x0a, 0x15, 0x18];

/** One with long texts, or with fields that others don't have. */
function unusualPieceOf(bytes: Uint8Array): Piece {
  const message = messageOf(bytes);
  const score = message.float(2);
  if (!Number.isFinite(score)) throw new ProtobufError('a piece has no finite score');
  return { text: message.text(1, ''), score, type: message.number(3, PIECE.normal) };
}

/** Four bytes with the size of the trie, the trie, and replacements, each ended by a zero. */
function checkedCharsMap(bytes: Uint8Array): Uint8Array {
  if (bytes.length === 0) return bytes;
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const size = bytes.length >= 8 ? view.readUInt32LE(0) : 0;
  if (
    size === 0 ||
    size % 4 !== 0 ||
    4 + size > bytes.length ||
    (4 + size < bytes.length && view.at(-1) !== 0)
  )
    throw new ProtobufError('its table of characters is broken');
  return bytes;
}

/** The fields of a message; of a field that comes twice the last one counts, as in every reader of protobuf. */
function messageOf(bytes: Uint8Array) {
  const reader = bytesReader(bytes);
  const fields = new Map<number, Field[]>();
  for (const field of fieldsOf(reader)) {
    const known = fields.get(field.number);
    if (known) known.push(field);
    else fields.set(field.number, [field]);
  }
  const last = (number: number, wire: number) => {
    const field = fields.get(number)?.at(-1);
    if (field && field.wire !== wire) throw new ProtobufError(`field ${number} has another type`);
    return field;
  };
  return {
    all: (number: number) =>
      (fields.get(number) ?? []).map((field) => {
        if (field.wire !== 2) throw new ProtobufError(`field ${number} has another type`);
        return contentBytes(reader, field);
      }),
    bytes(number: number): Uint8Array {
      const field = last(number, 2);
      return field ? contentBytes(reader, field) : new Uint8Array();
    },
    text(number: number, otherwise: string): string {
      const field = last(number, 2);
      return field ? UTF8.decode(contentBytes(reader, field)) : otherwise;
    },
    /** A number that is not negative. */
    number(number: number, otherwise: number): number {
      const field = last(number, 0);
      return field ? varint(reader, field.start).value : otherwise;
    },
    float(number: number): number {
      const field = last(number, 5);
      if (!field) return 0;
      const content = contentBytes(reader, field);
      return new DataView(content.buffer, content.byteOffset, 4).getFloat32(0, true);
    },
  };
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
