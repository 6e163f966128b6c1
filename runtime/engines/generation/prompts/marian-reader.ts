import { RunError } from '../../../core/errors.js';
import type { Json } from '../../repository/model-folder.js';
import type { TokenizerFacts } from '../../tokenizers/patient-tokenizer.js';
import { ONE_LANGUAGE_PAIR, unknownLanguageError } from './language-tokens.js';
import type { EncodeToLimit, SourceReader } from './encode-to-limit.js';

interface MarianInput {
  encode: EncodeToLimit;
  taskParams: Json;
  prefixOf(taskParams: Json): string;
}

/** A target language in front of the text, for models that have several. */
const LANGUAGE_PREFIX = /^>>.+<</;

/**
 * Reads texts for Marian models. A target language in front, `>>fra<<`, is one token, which tokenizer.json can't
 * express; `tgt_lang` adds it.
 */
export function createMarianReader(
  tokenizer: TokenizerFacts,
  { encode, taskParams, prefixOf }: MarianInput,
): SourceReader {
  const codes = tokenizer.tokensLike(/^>>.+<<$/).map((token) => token.slice(2, -2));
  const end = tokenizer.namedId('eos_token') ?? 0;
  const unknown = tokenizer.namedId('unk_token') ?? 1;
  return async (text, { src_lang, tgt_lang }, signal) => {
    checkPair(tokenizer.config, { codes, src_lang, tgt_lang });
    const chosen =
      codes.length > 0 && tgt_lang != null && !LANGUAGE_PREFIX.test(text) ? `>>${tgt_lang}<< ` : '';
    const whole = chosen + prefixOf(taskParams) + text;
    const code = LANGUAGE_PREFIX.exec(whole)?.[0];
    if (code === undefined) return { taskParams, tokens: await encode(whole, signal) };
    const around = { before: [tokenizer.idOf(code) ?? unknown], after: [end] };
    return { taskParams, tokens: await encode(whole.slice(code.length).trimStart(), signal, around) };
  };
}

interface LanguageChoice {
  codes: readonly string[];
  src_lang?: string | null | undefined;
  tgt_lang?: string | null | undefined;
}

/** Refuses languages that the model doesn't have. The source language is known only where the repository names a single one. */
function checkPair({ source_lang, target_lang }: Json, { codes, src_lang, tgt_lang }: LanguageChoice): void {
  if (tgt_lang != null && codes.length > 0) {
    if (!codes.includes(tgt_lang)) throw unknownLanguageError('tgt_lang', tgt_lang, codes);
  } else if (tgt_lang != null && tgt_lang !== target_lang) throw noChoice(target_lang);
  const isOne = typeof source_lang === 'string' && /^[a-z]{2,3}$/.test(source_lang);
  if (src_lang != null && (isOne || source_lang == null) && src_lang !== source_lang)
    throw noChoice(source_lang);
}

function noChoice(language: unknown): RunError {
  const which = typeof language === 'string' ? `: ${language}` : '';
  return new RunError('unprocessable', ONE_LANGUAGE_PAIR + which);
}
