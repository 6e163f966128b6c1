import { RunError } from '../../../core/errors.js';
import type { TranslationOptions } from '../../../core/handles/index.js';
import { tokenizerClassOf } from '../../../hub-config/tokenizer-class.js';
import type { Json } from '../../repository/model-folder.js';
import type { TokenizerFacts } from '../../tokenizers/patient-tokenizer.js';

/** Special tokens around a text. */
export interface SurroundingTokens {
  before: number[];
  after: number[];
}

/** Languages that are tokens of the vocabulary: one around the text, one at the beginning of the answer. */
export interface LanguageTokens {
  /** Codes as requests spell them. */
  codes: string[];
  /** The language of a text where the request names none; undefined: as the tokenizer frames it. */
  defaultCode: string | undefined;
  /** @throws RunError 422 for a language that the model doesn't have */
  surroundingsOf(code: string, parameter?: keyof TranslationOptions): SurroundingTokens;
  /** @throws RunError 422 for a language that the model doesn't have */
  idOf(code: string, parameter?: keyof TranslationOptions): number;
}

interface LanguageFamily {
  tokens: RegExp;
  codeOf?(token: string): string;
  tokenOf?(code: string): string;
  /** Undefined where the tokenizer's own frame has it. */
  defaultCode: string | undefined;
  /** True: the language comes first; false: after the end token. */
  languageFirst(config: Json): boolean;
}

const SCRIPTS = /^[a-z]{3}_[A-Z][a-z]{3}$/;
const REGIONS = /^[a-z]{2,3}_[A-Z]{2}$/;

/** By Python's tokenizer class, less `Tokenizer`. */
const FAMILIES: Record<string, LanguageFamily> = {
  Nllb: {
    tokens: SCRIPTS,
    defaultCode: 'eng_Latn',
    languageFirst: (config) => config['legacy_behaviour'] !== true,
  },
  MBart: { tokens: REGIONS, defaultCode: 'en_XX', languageFirst: () => false },
  MBart50: { tokens: REGIONS, defaultCode: 'en_XX', languageFirst: () => true },
  M2M100: {
    tokens: /^__[a-z]{2,3}__$/,
    codeOf: (token) => token.slice(2, -2),
    tokenOf: (code) => `__${code}__`,
    defaultCode: 'en',
    languageFirst: () => true,
  },
  PLBart: {
    tokens: /^__(?:java|python|en_XX|javascript|php|ruby|go)__$/,
    codeOf: (token) => token.slice(2, -2),
    tokenOf: (code) => `__${code}__`,
    defaultCode: undefined,
    languageFirst: () => false,
  },
};

/** The languages of a tokenizer that has them as tokens; undefined for others. */
export function languageTokensOf(tokenizer: TokenizerFacts, config: Json): LanguageTokens | undefined {
  const family = FAMILIES[tokenizerClassOf(tokenizer.config, config)];
  if (!family) return undefined;
  const { codeOf = (token) => token, tokenOf = (code) => code } = family;
  const codes = tokenizer.tokensLike(family.tokens).map(codeOf).sort();
  const known = new Set(codes);
  const end = tokenizer.namedId('eos_token');
  const first = family.languageFirst(tokenizer.config);
  const idOf: LanguageTokens['idOf'] = (code, parameter = 'src_lang') => {
    if (!known.has(code)) throw unknownLanguageError(parameter, code, codes);
    return tokenizer.idOf(tokenOf(code))!;
  };
  return {
    codes,
    idOf,
    defaultCode: family.defaultCode && String(tokenizer.config['src_lang'] ?? family.defaultCode),
    surroundingsOf(code, parameter) {
      const language = idOf(code, parameter);
      const ends = end === undefined ? [] : [end];
      return first ? { before: [language], after: ends } : { before: [], after: [...ends, language] };
    },
  };
}

/** Most languages that an error message lists. */
const MAX_LISTED = 20;

export function unknownLanguageError(parameter: string, code: string, codes: readonly string[]): RunError {
  const more = codes.length > MAX_LISTED ? `, … (${codes.length} in all)` : '';
  const listed = codes.slice(0, MAX_LISTED).join(', ') + more;
  const given = code.slice(0, 40);
  return new RunError('unprocessable', `params.${parameter}: this model has no "${given}"; it has ${listed}`);
}

/** The message where a model has no languages to choose from. */
export const ONE_LANGUAGE_PAIR =
  'params.src_lang, params.tgt_lang: this model has one pair of languages, there is no choice';
