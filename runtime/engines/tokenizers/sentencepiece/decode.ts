import type { Component } from '../tokenizer-json.js';
import { PIECE, type SentencePieceModel } from './model-file.js';

/** Tokens to text as transformers' Python classes do: special tokens as they stand, runs between them by sentencepiece. */
export function slowDecoder(config: Component): (tokens: string[]) => string[] {
  if (config['joins'] === true) return (tokens) => [tokens.join('').replaceAll('▁', ' ').trim()];
  const specials = new Set(config['specials'] as string[]);
  const decodePieces = createPieceDecoder(config['trained'] as SentencePieceModel);
  const decode = (run: readonly string[]) =>
    config['upper'] === true ? decodePieces(run).toUpperCase() : decodePieces(run);
  const behind = config['blankBehindSpecials'] === true ? ' ' : '';
  const before = config['blankBeforeRuns'] === true ? ' ' : '';
  return (tokens) => {
    let out = '';
    let run: string[] = [];
    for (const [i, token] of tokens.entries()) {
      if (!specials.has(token)) run.push(token);
      else {
        const isSecond = i > 0 && specials.has(tokens[i - 1]!);
        out += (isSecond ? '' : before) + decode(run) + token + behind;
        run = [];
      }
    }
    out += decode(run);
    // What no piece of the model stands for keeps its marks of blanks.
    return [(behind === '' ? out : out.replaceAll('▁', ' ')).trim()];
  };
}

/** DecodePieces of sentencepiece. */
function createPieceDecoder({
  pieces,
  normalizer,
  unknown,
}: SentencePieceModel): (run: readonly string[]) => string {
  const types = new Map(pieces.map(({ text, type }) => [text, type]));
  const { addsPrefix, removesExtraBlanks } = normalizer;
  return (run) => {
    let out = '';
    let first = true;
    for (const piece of run) {
      const type = types.get(piece);
      if (type === PIECE.control) continue;
      if (type === undefined) out += piece;
      else if (type === PIECE.unknown) out += unknown.surface;
      else {
        const marked = first && (addsPrefix || removesExtraBlanks) && piece.startsWith('▁');
        out += (marked ? piece.slice(1) : piece).replaceAll('▁', ' ');
        if (marked && !removesExtraBlanks) first = false;
      }
      if (out !== '') first = false;
    }
    return out;
  };
}
