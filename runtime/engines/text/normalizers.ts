import { RunError } from '../../core/errors.js';
import { byteCharacters } from './bytes.js';
import { library } from './library.js';
import { precompiledNormalizer } from './precompiled.js';
import type { Component } from './tokenizer-json.js';

/** Rewrites a text before it is split into words. */
export type Normalize = (text: string) => string;

/**
 * The normalizers of tokenizer.json as the Rust library computes them.
 * @throws RunError `not_ready` for a kind that we don't know
 */
export function createNormalizer(config: Component | null | undefined): Normalize {
  if (!config) return (text) => text;
  const create = NORMALIZERS[String(config.type)];
  if (!create) throw new RunError('not_ready', `tokenizer.json: normalizer ${config.type} is not supported`);
  return create(config);
}

const NORMALIZERS: Record<string, (config: Component) => Normalize> = {
  Sequence(config) {
    const steps = (config['normalizers'] as Component[]).map(createNormalizer);
    return (text) => steps.reduce((value, step) => step(value), text);
  },
  BertNormalizer: bertNormalizer,
  NFC: () => (text) => text.normalize('NFC'),
  NFD: () => (text) => text.normalize('NFD'),
  NFKC: () => (text) => text.normalize('NFKC'),
  NFKD: () => (text) => text.normalize('NFKD'),
  Lowercase: () => lowercase,
  StripAccents: () => (text) => text.replace(/\p{M}/gu, ''),
  Strip(config) {
    const sides = [
      config['strip_left'] === false ? [] : ['^\\p{White_Space}+'],
      config['strip_right'] === false ? [] : ['\\p{White_Space}+$'],
    ].flat();
    const pattern = new RegExp(sides.join('|'), 'gu');
    return (text) => (sides.length > 0 ? text.replace(pattern, '') : text);
  },
  Prepend: (config) => (text) => (text === '' ? '' : String(config['prepend']) + text),
  // The library translates Oniguruma's patterns to JavaScript's.
  Replace(config) {
    const { pattern } = new library.ReplaceNormalizer(config);
    return (text) => (pattern ? text.replaceAll(pattern, () => String(config['content'])) : text);
  },
  Nmt: () => (text) => text.replace(NMT_DROPPED, '').replace(NMT_BLANKS, ' '),
  Precompiled: (config) => precompiledNormalizer(String(config['precompiled_charsmap'] ?? '')),
  ByteLevel: () => byteCharacters,
};

/** One character at a time: a word-final sigma is no exception, as it would be for a whole string. */
function lowercase(text: string): string {
  return Array.from(text, (char) => char.toLowerCase()).join('');
}

// eslint-disable-next-line no-control-regex -- SentencePiece's NMT rules name these
const NMT_DROPPED = /[\u0001-\u0008\u000b\u000e-\u001f\u007f\u008f\u009f]/g;
const NMT_BLANKS = /[\t\n\f\r\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]/g;

const CHINESE =
  /[\u4e00-\u9fff\u3400-\u4dbf\u{20000}-\u{2a6df}\u{2a700}-\u{2b81f}\u{2b920}-\u{2ceaf}\uf900-\ufaff\u{2f800}-\u{2fa1f}]/gu;
/** Control, format and private characters, but for the white space among them. */
const CONTROLS = /(?![\t\n\r])[\p{Cc}\p{Cf}\p{Co}\ufffd]/gu;

function bertNormalizer(config: Component): Normalize {
  const steps: Normalize[] = [];
  const lower = config['lowercase'] !== false;
  if (config['clean_text'] !== false) {
    steps.push((text) => text.replace(CONTROLS, '').replace(/\p{White_Space}/gu, ' '));
  }
  if (config['handle_chinese_chars'] !== false) steps.push((text) => text.replace(CHINESE, ' $& '));
  if (config['strip_accents'] ?? lower) {
    steps.push((text) => text.normalize('NFD').replace(/\p{Mn}/gu, ''));
  }
  if (lower) steps.push(lowercase);
  return (text) => steps.reduce((value, step) => step(value), text);
}
