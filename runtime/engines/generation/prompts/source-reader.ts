import { RunError } from '../../../core/errors.js';
import type { TranslationOptions } from '../../../core/handles/index.js';
import { tokenizerClassOf } from '../../../hub-config/tokenizer-class.js';
import type { Json } from '../../repository/model-folder.js';
import {
  type LanguageTokens,
  languageTokensOf,
  ONE_LANGUAGE_PAIR,
  unknownLanguageError,
} from './language-tokens.js';
import { createMarianReader } from './marian-reader.js';
import {
  type EncodeToLimit,
  createEncodeToLimit,
  type SourceInput,
  type SourceReader,
} from './encode-to-limit.js';

/** Reads texts as Python's pipeline of the task does: its prefix, its languages, cut to what the model takes. */
export function createSourceReader(input: SourceInput): SourceReader {
  const { tokenizer, config, task } = input;
  const encode = createEncodeToLimit(input);
  const languages = languageTokensOf(tokenizer, config);
  const pairs = languagePairsOf(config);
  const prefixOf = (taskParams: Json) => String(taskParams['prefix'] ?? config['prefix'] ?? '');
  if (task !== 'translation') {
    const taskParams = taskSpecificParams(config)[task] ?? {};
    const code = languages?.defaultCode;
    const around = code === undefined ? undefined : languages?.surroundingsOf(code);
    return async (text, _, signal) => ({
      taskParams,
      tokens: await encode(prefixOf(taskParams) + text, signal, around),
    });
  }
  if (languages) return createTokenReader(languages, { pairs, encode });
  if (tokenizerClassOf(tokenizer.config, config) === 'Marian') {
    return createMarianReader(tokenizer, { encode, taskParams: pairs[0]?.taskParams ?? {}, prefixOf });
  }
  return async (text, choice, signal) => {
    const taskParams = pairParams(pairs, choice);
    return { taskParams, tokens: await encode(prefixOf(taskParams) + text, signal) };
  };
}

/** An entry translation_xx_to_yy of task_specific_params. */
interface LanguagePair {
  from: string;
  to: string;
  taskParams: Json;
}

const taskSpecificParams = (config: Json) =>
  (config['task_specific_params'] ?? {}) as Record<string, Json | undefined>;

function languagePairsOf(config: Json): LanguagePair[] {
  return Object.entries(taskSpecificParams(config))
    .filter(([name]) => name.startsWith('translation'))
    .map(([name, taskParams]) => {
      const [, from = '', , to = ''] = name.split('_');
      return { from, to, taskParams: taskParams ?? {} };
    });
}

/** For models that are told the languages by a prefix. Python takes the first entry where no languages are named. */
function pairParams(
  pairs: readonly LanguagePair[],
  { src_lang: from, tgt_lang: to }: TranslationOptions,
): Json {
  if (from == null && to == null) return pairs[0]?.taskParams ?? {};
  if (pairs.length === 0) throw new RunError('unprocessable', ONE_LANGUAGE_PAIR);
  const found = pairs.find((pair) => pair.from === from && pair.to === to);
  if (found) return found.taskParams;
  const wanted = `${from ?? '?'} to ${to ?? '?'}`;
  throw unknownLanguageError(
    from == null ? 'src_lang' : 'tgt_lang',
    wanted,
    pairs.map((pair) => `${pair.from} to ${pair.to}`),
  );
}

/** Models whose languages are tokens. Python has no default for either, except what the name of a task says. */
function createTokenReader(
  languages: LanguageTokens,
  { pairs, encode }: { pairs: readonly LanguagePair[]; encode: EncodeToLimit },
): SourceReader {
  const [defaultPair] = pairs;
  return async (text, { src_lang, tgt_lang }, signal) => {
    const named = src_lang == null && tgt_lang == null ? defaultPair : undefined;
    const [from, to] = [src_lang ?? named?.from, tgt_lang ?? named?.to];
    if (!from || !to) throw missingLanguageError(from ? 'tgt_lang' : 'src_lang', languages.codes);
    return {
      tokens: await encode(text, signal, languages.surroundingsOf(from, 'src_lang')),
      taskParams: defaultPair?.taskParams ?? {},
      forcedBosTokenId: languages.idOf(to, 'tgt_lang'),
    };
  };
}

function missingLanguageError(parameter: string, codes: readonly string[]): RunError {
  const examples = codes.slice(0, 10).join(', ');
  return new RunError(
    'invalid_input',
    `params.${parameter}: is required by this model, one of ${examples}, …`,
  );
}
