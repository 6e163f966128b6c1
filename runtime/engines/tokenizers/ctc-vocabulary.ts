import { RunError } from '../../core/errors.js';
import { type Json, readOptionalJson } from '../repository/model-folder.js';
import { cleanUp } from './clean-up.js';
import { tokenText } from './tokenizer-json.js';

/** Text of the tokens that a model with connectionist temporal classification gives for each step. */
export interface CtcVocabulary {
  /**
   * Equal neighbours become one, then the blank goes (Wav2Vec2CTCTokenizer.decode). Scores may be more than the vocabulary
   * has tokens: what has no name is the unknown token, and neighbours are compared by their names.
   */
  decode(ids: readonly number[]): string;
}

/**
 * Reads vocab.json, or tokenizer.json, as Python's Wav2Vec2CTCTokenizer does.
 * @throws RunError `not_ready` without either
 */
export async function loadCtcVocabulary(dir: string): Promise<CtcVocabulary> {
  const [vocab, json, added, settings] = await Promise.all([
    readOptionalJson(dir, 'vocab.json'),
    readOptionalJson<{ model?: { vocab?: Json } }>(dir, 'tokenizer.json'),
    readOptionalJson(dir, 'added_tokens.json'),
    readOptionalJson(dir, 'tokenizer_config.json'),
  ]);
  const config = settings ?? {};
  const base = languageOf(vocab ?? json?.model?.vocab, config);
  const tokens = new Map<number, string>();
  for (const [token, id] of Object.entries({ ...base, ...added })) tokens.set(id as number, token);
  const more = (config['added_tokens_decoder'] ?? {}) as Record<string, unknown>;
  for (const [id, token] of Object.entries(more)) tokens.set(Number(id), tokenText(token));
  return createCtcVocabulary(tokens, config);
}

/** Models of many languages have a vocabulary for each. */
function languageOf(vocab: Json | undefined, { target_lang: language }: Json): Json {
  if (!vocab) throw new RunError('not_ready', 'the model has neither vocab.json nor tokenizer.json');
  const nested = typeof language === 'string' ? vocab[language] : undefined;
  return typeof nested === 'object' && nested !== null ? (nested as Json) : vocab;
}

/** @param config tokenizer_config.json */
export function createCtcVocabulary(tokens: ReadonlyMap<number, string>, config: Json): CtcVocabulary {
  const blank = tokenText(config['pad_token'] ?? '<pad>');
  const unknown = tokenText(config['unk_token'] ?? '<unk>');
  const delimiter = tokenText(config['word_delimiter_token'] ?? '|');
  const space = tokenText(config['replace_word_delimiter_char'] ?? ' ');
  return {
    decode(ids) {
      const written = ids
        .map((id) => tokens.get(id) ?? unknown)
        .filter((token, i, all) => token !== all[i - 1] && token !== blank)
        .map((token) => (token === delimiter ? space : token));
      const text = written.join('').trim();
      const cased = config['do_lower_case'] === true ? text.toLowerCase() : text;
      return config['clean_up_tokenization_spaces'] === true ? cleanUp(cased) : cased;
    },
  };
}
