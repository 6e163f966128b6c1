import { RunError } from '../../core/errors.js';
import { type AlignedText, alignText, sliceAligned, prepend, rewrite } from './aligned-text.js';
import { byteLevelText } from './bytes.js';
import { tokenizersLibrary } from './library.js';
import { precompiledNormalizer } from './precompiled.js';
import { NUMBER_WITH_COMMA, SPOKEN_NUMBER, spokenNumber } from './spoken-numbers.js';
import type { Component } from './tokenizer-json.js';
import { type UnicodeForm, unicodeForm } from './unicode-forms.js';

/** Rewrites a text before it is split into words. */
export type Normalize = (value: AlignedText) => AlignedText;

/**
 * The normalizers of tokenizer.json as the Rust library computes them.
 * @throws RunError `not_ready` for a kind that we don't know
 */
export function createNormalizer(config: Component | null | undefined): Normalize {
  if (!config) return (value) => value;
  const create = NORMALIZERS[String(config.type)];
  if (!create) throw new RunError('not_ready', `tokenizer.json: normalizer ${config.type} is not supported`);
  return create(config);
}

/** What a normalizer makes of a text, without origins. */
export function normalizedText(normalize: Normalize, text: string): string {
  return normalize(alignText(text, false)).text;
}

const NORMALIZERS: Record<string, (config: Component) => Normalize> = {
  Sequence: (config) => inTurn((config['normalizers'] as Component[]).map(createNormalizer)),
  BertNormalizer: bertNormalizer,
  NFC: () => inForm('NFC'),
  NFD: () => inForm('NFD'),
  NFKC: () => inForm('NFKC'),
  NFKD: () => inForm('NFKD'),
  Lowercase: () => lowercase,
  StripAccents: () => without(/\p{M}/gu),
  Strip(config) {
    const sides = { left: config['strip_left'] !== false, right: config['strip_right'] !== false };
    return (value) => strip(value, sides);
  },
  Prepend: (config) => (value) => (value.text === '' ? value : prepend(value, String(config['prepend']))),
  // The library translates Oniguruma's patterns to JavaScript's.
  Replace(config) {
    const { pattern } = new tokenizersLibrary.ReplaceNormalizer(config);
    return (value) => (pattern ? rewrite(value, pattern, () => String(config['content'])) : value);
  },
  Nmt: () => inTurn([without(NMT_DROPPED), (value) => rewrite(value, NMT_BLANKS, () => ' ')]),
  Precompiled: (config) => precompiledNormalizer(String(config['precompiled_charsmap'] ?? '')),
  ByteLevel: () => byteLevelText,
  SpokenNumbers: () => spokenNumbers,
};

const spokenNumbers = inTurn([
  (value) => rewrite(value, NUMBER_WITH_COMMA, (found) => found.replaceAll(',', '')),
  (value) => rewrite(value, SPOKEN_NUMBER, spokenNumber),
  (value) => rewrite(value, / +/gu, () => ' '),
]);

function inTurn(steps: readonly Normalize[]): Normalize {
  return (value) => steps.reduce((current, step) => step(current), value);
}

function inForm(form: UnicodeForm): Normalize {
  return (value) => unicodeForm(value, form);
}

function without(pattern: RegExp): Normalize {
  return (value) => rewrite(value, pattern, () => '');
}

/** One character at a time: a word-final sigma is no exception, as it would be for a whole string. */
function lowercase(value: AlignedText): AlignedText {
  return rewrite(value, /\p{Changes_When_Lowercased}/gu, (char) => char.toLowerCase());
}

const BLANK = /\p{White_Space}/u;

/** Scanned by hand, since a pattern would try every blank of a run again. */
function strip(value: AlignedText, { left, right }: { left: boolean; right: boolean }): AlignedText {
  const { text } = value;
  let [start, end] = [0, text.length];
  if (right) while (end > start && BLANK.test(text[end - 1]!)) end--;
  if (left) while (start < end && BLANK.test(text[start]!)) start++;
  return sliceAligned(value, start, end);
}

// eslint-disable-next-line no-control-regex -- SentencePiece's NMT rules name these
const NMT_DROPPED = /[\u0001-\u0008\u000b\u000e-\u001f\u007f\u008f\u009f]/g;
const NMT_BLANKS = /[\t\n\f\r\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]/g;

const CHINESE =
  /[\u4e00-\u9fff\u3400-\u4dbf\u{20000}-\u{2a6df}\u{2a700}-\u{2b81f}\u{2b920}-\u{2ceaf}\uf900-\ufaff\u{2f800}-\u{2fa1f}]/gu;
/** Control, format and private characters, but for the white space among them. */
const CONTROLS = /(?![\t\n\r])[\p{Cc}\p{Cf}\p{Co}\ufffd]/gu;
const OTHER_BLANKS = /(?! )\p{White_Space}/gu;

function bertNormalizer(config: Component): Normalize {
  const steps: Normalize[] = [];
  const lower = config['lowercase'] !== false;
  if (config['clean_text'] !== false) {
    steps.push(without(CONTROLS), (value) => rewrite(value, OTHER_BLANKS, () => ' '));
  }
  if (config['handle_chinese_chars'] !== false) {
    steps.push((value) => rewrite(value, CHINESE, (char) => ` ${char} `));
  }
  if (config['strip_accents'] ?? lower) steps.push(inForm('NFD'), without(/\p{Mn}/gu));
  if (lower) steps.push(lowercase);
  return inTurn(steps);
}
