import { RunError } from '../../../core/errors.js';
import type { TranslationOptions } from '../../../core/handles/index.js';
import type { Json } from '../../repository/model-folder.js';
import { type Languages, languagesOf, NO_CHOICE, tokenizerClass, unknownLanguage } from './languages.js';
import { marianReader } from './marian-source.js';
import { type Fit, fitting, type SourceInput, type SourceReader } from './source-text.js';

/** Reads texts as the pipeline of the task does: its prefix, its languages, cut to what the model takes. */
export function sourceReader(input: SourceInput): SourceReader {
  const { tokenizer, config, task } = input;
  const fit = fitting(input);
  const languages = languagesOf(tokenizer, config);
  const pairs = pairsOf(config);
  const prefixOf = (own: Json) => String(own['prefix'] ?? config['prefix'] ?? '');
  if (task !== 'translation') {
    const own = specific(config)[task] ?? {};
    const around = languages?.around(languages.usual);
    return (text) => ({ own, ids: fit(prefixOf(own) + text, around) });
  }
  if (languages) return withTokens(languages, { pairs, fit });
  if (tokenizerClass(tokenizer, config) === 'Marian' || config['model_type'] === 'marian') {
    return marianReader(tokenizer, { fit, own: pairs[0]?.own ?? {}, prefixOf });
  }
  return (text, choice) => {
    const own = ownPair(pairs, choice);
    return { own, ids: fit(prefixOf(own) + text) };
  };
}

/** An entry translation_xx_to_yy of task_specific_params. */
interface Pair {
  from: string;
  to: string;
  own: Json;
}

const specific = (config: Json) => (config['task_specific_params'] ?? {}) as Record<string, Json | undefined>;

function pairsOf(config: Json): Pair[] {
  return Object.entries(specific(config))
    .filter(([name]) => name.startsWith('translation'))
    .map(([name, own]) => {
      const [, from = '', , to = ''] = name.split('_');
      return { from, to, own: own ?? {} };
    });
}

/** Models that tell languages by a prefix. Python takes the first entry where no languages are named. */
function ownPair(pairs: readonly Pair[], { src_lang: from, tgt_lang: to }: TranslationOptions): Json {
  if (from == null && to == null) return pairs[0]?.own ?? {};
  if (pairs.length === 0) throw new RunError('unprocessable', NO_CHOICE);
  const found = pairs.find((pair) => pair.from === from && pair.to === to);
  if (found) return found.own;
  const wanted = `${from ?? '?'} to ${to ?? '?'}`;
  throw unknownLanguage(
    from == null ? 'src_lang' : 'tgt_lang',
    wanted,
    pairs.map((pair) => `${pair.from} to ${pair.to}`),
  );
}

/** Models whose languages are tokens. Python has no default for either, but for what a task's name says. */
function withTokens(
  languages: Languages,
  { pairs, fit }: { pairs: readonly Pair[]; fit: Fit },
): SourceReader {
  const [usual] = pairs;
  return (text, { src_lang, tgt_lang }) => {
    const named = src_lang == null && tgt_lang == null ? usual : undefined;
    const [from, to] = [src_lang ?? named?.from, tgt_lang ?? named?.to];
    if (!from || !to) throw missing(from ? 'tgt_lang' : 'src_lang', languages.codes);
    return {
      ids: fit(text, languages.around(from, 'src_lang')),
      own: usual?.own ?? {},
      forcedBos: languages.idOf(to, 'tgt_lang'),
    };
  };
}

function missing(parameter: string, codes: readonly string[]): RunError {
  const examples = codes.slice(0, 10).join(', ');
  return new RunError(
    'invalid_input',
    `params.${parameter}: is required by this model, one of ${examples}, …`,
  );
}
