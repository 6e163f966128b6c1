import { RunError } from '../../core/errors.js';
import { type AlignedText, prepend, rewrite } from './aligned-text.js';
import { byteLevelText } from './bytes.js';
import { tokenizersLibrary } from './library.js';
import type { Component } from './tokenizer-json.js';

/** A stretch of text between added tokens, on its way to become words. */
export interface PreToken extends AlignedText {
  /** True where the stretch begins at the beginning of the input, before it was normalised. */
  first: boolean;
}

/** True where a part of a piece, from `start` on, came from the beginning of the input. */
const beginsInput = ({ first, origins, at }: PreToken, start: number): boolean =>
  origins ? origins.starts[at + start] === 0 : first && start === 0;

/** True where pre-tokenising asks what a text was before its normaliser, which only origins tell. */
export function asksForOrigins(config: Component | null | undefined): boolean {
  if (config?.type === 'Sequence') return (config['pretokenizers'] as Component[]).some(asksForOrigins);
  return config?.type === 'Metaspace' && config['prepend_scheme'] === 'first';
}

export type PreTokenize = (pieces: PreToken[]) => PreToken[];

/**
 * The pre-tokenizers of tokenizer.json as the Rust library computes them.
 * @throws RunError `not_ready` for a kind that we don't know
 */
export function createPreTokenizer(config: Component | null | undefined): PreTokenize {
  if (!config) return (pieces) => pieces;
  const create = PRE_TOKENIZERS[String(config.type)];
  if (!create)
    throw new RunError('not_ready', `tokenizer.json: pre-tokenizer ${config.type} is not supported`);
  return create(config);
}

const WHITE_SPACE = /\p{White_Space}/gu;
const PUNCTUATION = /[\p{P}!-/:-@[-`{-~]/gu;
const WORDS = /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]+/u;
const WORDS_OR_SIGNS = new RegExp(`${WORDS.source}|[^\\p{White_Space}${WORDS.source.slice(1, -2)}]+`, 'gu');
const GPT2 =
  /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;

const PRE_TOKENIZERS: Record<string, (config: Component) => PreTokenize> = {
  Sequence(config) {
    const steps = (config['pretokenizers'] as Component[]).map(createPreTokenizer);
    return (pieces) => steps.reduce((value, step) => step(value), pieces);
  },
  Whitespace: () => splitter({ pattern: WORDS_OR_SIGNS, behavior: 'Removed', invert: true }),
  WhitespaceSplit: () => splitter({ pattern: WHITE_SPACE, behavior: 'Removed' }),
  BertPreTokenizer() {
    const words = splitter({ pattern: WHITE_SPACE, behavior: 'Removed' });
    const signs = splitter({ pattern: PUNCTUATION, behavior: 'Isolated' });
    return (pieces) => signs(words(pieces));
  },
  Punctuation: (config) => splitter({ pattern: PUNCTUATION, behavior: config['behavior'] ?? 'Isolated' }),
  Digits: (config) =>
    splitter({
      pattern: /\p{N}/gu,
      behavior: config['individual_digits'] === true ? 'Isolated' : 'Contiguous',
    }),
  CharDelimiterSplit: (config) =>
    splitter({ pattern: literal(String(config['delimiter'])), behavior: 'Removed' }),
  FixedLength: (config) =>
    splitter({ pattern: new RegExp(`.{1,${Number(config['length'] ?? 5)}}`, 'gsu'), behavior: 'Isolated' }),
  Split(config) {
    // The library translates Oniguruma's patterns to JavaScript's.
    const { pattern } = new tokenizersLibrary.SplitPreTokenizer({ ...config, invert: true });
    return splitter({ pattern: pattern!, behavior: config['behavior'], invert: config['invert'] === true });
  },
  ByteLevel: byteLevel,
  Metaspace: metaspace,
};

interface Split {
  /** Global pattern of the delimiters. */
  pattern: RegExp;
  /** What becomes of a delimiter: SplitDelimiterBehavior of the Rust library. */
  behavior: unknown;
  /** True: what does not match is the delimiter. */
  invert?: boolean;
}

interface Part {
  start: number;
  end: number;
  delimiter: boolean;
}

function splitter({ pattern, behavior, invert = false }: Split): PreTokenize {
  const merge = BEHAVIORS[String(behavior)];
  if (!merge)
    throw new RunError('not_ready', `tokenizer.json: split behavior ${String(behavior)} is not supported`);
  return (pieces) =>
    pieces.flatMap((piece) =>
      merge(partsOf(piece.text, pattern, invert)).map(({ start, end }) => ({
        text: piece.text.slice(start, end),
        origins: piece.origins,
        at: piece.at + start,
        first: beginsInput(piece, start),
      })),
    );
}

function partsOf(text: string, pattern: RegExp, invert: boolean): Part[] {
  const parts: Part[] = [];
  let at = 0;
  for (const { index, 0: match } of text.matchAll(pattern)) {
    if (index > at) parts.push({ start: at, end: index, delimiter: invert });
    if (match !== '') parts.push({ start: index, end: index + match.length, delimiter: !invert });
    at = index + match.length;
  }
  if (at < text.length) parts.push({ start: at, end: text.length, delimiter: invert });
  return parts;
}

const BEHAVIORS: Record<string, (parts: Part[]) => Part[]> = {
  Isolated: (parts) => parts,
  Removed: (parts) => parts.filter((part) => !part.delimiter),
  Contiguous: (parts) => joined(parts, (last, part) => last.delimiter === part.delimiter),
  MergedWithPrevious: (parts) => joined(parts, (last, part) => part.delimiter && !last.delimiter),
  MergedWithNext: (parts) => joined(parts, (last, part) => last.delimiter && !part.delimiter),
};

/** Joins neighbours; of two parts that were joined, the second decides about the next. */
function joined(parts: Part[], joins: (last: Part, part: Part) => boolean): Part[] {
  const out: Part[] = [];
  parts.forEach((part, i) => {
    if (i > 0 && joins(parts[i - 1]!, part)) out.at(-1)!.end = part.end;
    else out.push({ ...part });
  });
  return out;
}

function byteLevel(config: Component): PreTokenize {
  const prefix = config['add_prefix_space'] !== false;
  const split = config['use_regex'] === false ? undefined : splitter({ pattern: GPT2, behavior: 'Isolated' });
  return (pieces) => {
    const begun = pieces.map((piece) =>
      prefix && !piece.text.startsWith(' ') ? { ...prepend(piece, ' '), first: piece.first } : piece,
    );
    return (split?.(begun) ?? begun).map((piece) => ({ ...byteLevelText(piece), first: piece.first }));
  };
}

function metaspace(config: Component): PreTokenize {
  const sign = String(config['replacement'] ?? '▁');
  const scheme = String(
    config['prepend_scheme'] ?? (config['add_prefix_space'] === false ? 'never' : 'always'),
  );
  const split =
    config['split'] === false ? undefined : splitter({ pattern: literal(sign), behavior: 'MergedWithNext' });
  return (pieces) => {
    const begun = pieces.map((piece) => {
      const replaced = rewrite(piece, / /g, () => sign);
      const wanted = scheme === 'always' || (scheme === 'first' && piece.first);
      const text = wanted && !replaced.text.startsWith(sign) ? prepend(replaced, sign) : replaced;
      return { ...text, first: piece.first };
    });
    return split?.(begun) ?? begun;
  };
}

function literal(text: string): RegExp {
  return new RegExp(text.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&'), 'gu');
}
