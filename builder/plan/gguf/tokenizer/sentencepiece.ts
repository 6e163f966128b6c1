import { writeField, writeNumber } from '../../../../runtime/onnx/protobuf.js';
import type { GgufFacts } from '../facts.js';
import { type GgufVocabulary, KIND } from './vocabulary.js';

/** Merged pairs, by the numbers that model files of sentencepiece have for kinds. */
const MERGED_PAIRS = 2;

/**
 * tokenizer.model, of which the server makes a tokenizer as of every model file of sentencepiece.
 * @throws WeightsError where scores are missing
 */
export function sentencePieceModel(facts: GgufFacts, vocabulary: GgufVocabulary): Buffer {
  const { tokens, kinds, scores } = vocabulary;
  if (!scores) throw facts.refuse('has no scores (tokenizer.ggml.scores)');
  const pieces = tokens.map((text, id) =>
    writeField(1, piece(text, { score: scores[id]!, kind: kinds[id]! })),
  );
  const unknown =
    vocabulary.special('unknown') ?? [...tokens.keys()].find((id) => kinds[id] === KIND.unknown) ?? 0;
  const hasBytes = [...tokens.keys()].some((id) => kinds[id] === KIND.byte);
  const trainer = Buffer.concat([
    writeNumber(3, MERGED_PAIRS),
    writeNumber(35, hasBytes ? 1 : 0),
    writeNumber(40, unknown),
    writeField(45, tokens[unknown]!),
  ]);
  const prefix = writeNumber(3, vocabulary.flag('add_space_prefix') === false ? 0 : 1);
  // Blanks are kept as they are.
  const normalizer = Buffer.concat([prefix, writeNumber(4, 0), writeNumber(5, 1)]);
  return Buffer.concat([...pieces, writeField(2, trainer), writeField(3, normalizer)]);
}

const SCORE = 0x15;

function piece(text: string, { score, kind }: { score: number; kind: number }): Uint8Array {
  const number = Buffer.alloc(5);
  number.writeUInt8(SCORE);
  number.writeFloatLE(score, 1);
  return Buffer.concat([
    writeField(1, text),
    number,
    ...(kind === KIND.normal ? [] : [writeNumber(3, kind)]),
  ]);
}
