import { RunError } from '../../core/errors.js';
import { type Json, readOptionalJson } from '../repository/model-folder.js';
import { tokenText } from './tokenizer-json.js';

export interface VitsTokenizer {
  /** Ids of a text's letters, with blanks between them where the model wants that. */
  encode(text: string): number[];
}

/**
 * Reads vocab.json, or the vocabulary of tokenizer.json, as Python's VitsTokenizer does.
 * @throws RunError `not_ready` without either, and for models that want phonemes
 */
export async function loadVitsTokenizer(dir: string): Promise<VitsTokenizer> {
  const [vocab, json, added, config] = await Promise.all([
    readOptionalJson<Record<string, number>>(dir, 'vocab.json'),
    readOptionalJson<{ model?: { vocab?: Record<string, number> } }>(dir, 'tokenizer.json'),
    readOptionalJson<Record<string, number>>(dir, 'added_tokens.json'),
    readOptionalJson(dir, 'tokenizer_config.json'),
  ]);
  const ids = vocab ?? json?.model?.vocab;
  if (!ids) throw new RunError('not_ready', 'the model has neither vocab.json nor tokenizer.json');
  return createVitsTokenizer({ ids, added: added ?? {}, config: config ?? {} });
}

export interface VitsFiles {
  ids: Readonly<Record<string, number>>;
  /** added_tokens.json */
  added: Readonly<Record<string, number>>;
  /** tokenizer_config.json */
  config: Json;
}

/** The id between letters. */
const BLANK = 0;

export function createVitsTokenizer({ ids, added, config }: VitsFiles): VitsTokenizer {
  if (config['phonemize'] !== false) {
    throw new RunError(
      'not_ready',
      'this model wants phonemes (phonemize in tokenizer_config.json), which nothing here makes of a text',
    );
  }
  const known = new Map(Object.entries(ids));
  const whole = wholeTokens(added, config);
  const words = [...known.keys(), ...whole.keys()];
  const normalizes = config['normalize'] !== false;
  const unknown = known.get(tokenText(config['unk_token']));
  const idOf = (letter: string) => known.get(letter) ?? whole.get(letter) ?? unknown;

  /** Letters of a stretch of text, with blanks around each. */
  function spell(stretch: string): number[] {
    const tokens = Array.from(stretch, idOf).filter((id) => id !== undefined);
    return config['add_blank'] === false ? tokens : [BLANK, ...tokens.flatMap((id) => [id, BLANK])];
  }

  return {
    encode(text) {
      const cased = normalizes ? lowerUnknown(text, words) : text;
      // Romanian's comma below is written with a cedilla there.
      const written = config['language'] === 'ron' ? cased.replaceAll('ț', 'ţ') : cased;
      const letters = Array.from(written)
        .filter((letter) => !normalizes || known.has(letter))
        .join('');
      const stretches = splitAt([...whole.keys()], normalizes ? letters.trim() : letters);
      return stretches.flatMap((one) => (whole.has(one) ? [idOf(one)!] : spell(one)));
    },
  };
}

/** Tokens that stay whole, without blanks: those of the configuration, such as the padding, which may be a letter. */
function wholeTokens(added: VitsFiles['added'], config: Json): Map<string, number | undefined> {
  const tokens = new Map<string, number | undefined>(Object.entries(added));
  const named = (config['added_tokens_decoder'] ?? {}) as Record<string, unknown>;
  for (const [id, token] of Object.entries(named)) tokens.set(tokenText(token), Number(id));
  for (const name of ['pad_token', 'unk_token']) {
    const token = tokenText(config[name]);
    if (token !== '' && !tokens.has(token)) tokens.set(token, undefined);
  }
  return tokens;
}

/** A text in stretches, each one of the tokens, the longest first, or what is between them. */
function splitAt(tokens: readonly string[], text: string): string[] {
  const sorted = tokens.filter((token) => token !== '').toSorted((a, b) => b.length - a.length);
  if (sorted.length === 0) return text === '' ? [] : [text];
  const pattern = sorted.map((token) => token.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)).join('|');
  return text.split(new RegExp(`(${pattern})`, 'u')).filter((one) => one !== '');
}

/** Lower-cases what is in no word of the vocabulary: some have capitals (VitsTokenizer.normalize_text). */
function lowerUnknown(text: string, words: readonly string[]): string {
  const byFirst = new Map<string, string[]>();
  for (const word of words) {
    const [first = ''] = word;
    byFirst.set(first, [...(byFirst.get(first) ?? []), word]);
  }
  let found = '';
  for (let at = 0; at < text.length;) {
    const letter = String.fromCodePoint(text.codePointAt(at)!);
    const word = byFirst.get(letter)?.find((one) => text.startsWith(one, at));
    found += word ?? letter.toLowerCase();
    at += (word ?? letter).length;
  }
  return found;
}
