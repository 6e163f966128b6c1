import { RunError } from '../../../core/errors.js';
import type { Json } from '../../repository/model-folder.js';
import { type Component, tokenText } from '../tokenizer-json.js';
import { addedRows } from './added-rows.js';
import type { Converted, ConvertRequest } from './convert.js';
import {
  M2M100_LANGUAGES,
  MUSTC_LANGUAGES,
  PLBART_BASE,
  PLBART_MULTI,
  WMT21_LANGUAGES,
} from './languages.js';
import type { SentencePieceModel } from './model-file.js';
import { around, template } from './template.js';

export interface SlowRequest extends ConvertRequest {
  /** vocab.json: ids of pieces, which are not those of the model; empty where a class counts them. */
  vocab: Record<string, number>;
  /** Reads what was written, where that is another model. */
  target?: SentencePieceModel | undefined;
}

/**
 * A tokenizer of a class that transformers has in Python only: sentencepiece cuts the text, and a list beside it gives the
 * ids. Tokens don't know their places in the text.
 */
export function slowTokenizer(request: SlowRequest): Converted {
  const { settings, written, addedTokens, model, target = model } = request;
  if (settings['separate_vocabs'] === true)
    throw new RunError('not_ready', 'tokenizer_config.json: separate_vocabs is not supported');
  const { vocab, frame, languages = [], normalizer = null } = FAMILIES[request.family]!(request);
  const ids = new Map(Object.entries(vocab));
  const given = (settings['additional_special_tokens'] ?? []) as unknown[];
  const further = [...languages, ...given.filter((token) => !languages.includes(tokenText(token)))];
  const flags = {};
  const added = addedRows({
    ...{ pieces: [], specialPieces: new Set<string>(), flags, ids, settings, written, addedTokens, further },
  });
  const unknownId = ids.get(tokenText(settings['unk_token']));
  if (unknownId === undefined) throw new RunError('not_ready', 'vocab.json: has no unknown token');
  return {
    config: { ...settings, additional_special_tokens: further },
    json: {
      added_tokens: added,
      ...{ normalizer, pre_tokenizer: null },
      post_processor: template(frame, (token) => ids.get(token) ?? unknownId),
      decoder: {
        type: 'SentencePiece',
        ...{
          trained: target,
          specials: added.filter(({ special }) => special).map(({ content }) => content),
        },
        blankBehindSpecials: ['Marian', 'Speech2Text'].includes(request.family),
        upper: request.family === 'Speech2Text' && settings['do_upper_case'] === true,
        blankBeforeRuns: request.family === 'SpeechT5',
        joins: request.family === 'PLBart',
      },
      // Marian's target language stands in front of the text, as `>>fra<<`.
      model: {
        type: 'SentencePiece',
        language_first: request.family === 'Marian',
        vocab,
        unk_id: unknownId,
        trained: model,
      },
    },
  };
}

interface SlowFamily {
  vocab: Record<string, number>;
  frame: readonly [single: string, pair: string];
  /** Special tokens that the class has by itself. */
  languages?: readonly string[];
  /** What the class does before sentencepiece. */
  normalizer?: Component | null;
}

const FAMILIES: Record<string, (request: SlowRequest) => SlowFamily> = {
  Marian: ({ vocab, settings }) => ({ vocab, frame: around([], [tokenText(settings['eos_token'])]) }),
  SpeechT5({ model, settings }) {
    const ids = model.pieces.map(({ text }, id) => [text, id] as const);
    return {
      vocab: Object.fromEntries(ids),
      frame: around([], [tokenText(settings['eos_token'])]),
      normalizer: settings['normalize'] === true ? { type: 'SpokenNumbers' } : null,
    };
  },
  Speech2Text({ vocab, settings }) {
    const { lang_codes: name, tgt_lang: to } = settings;
    if (name != null && name !== 'mustc') throw unknownCodes(name);
    const languages = name == null ? [] : MUSTC_LANGUAGES.map((code) => `<lang:${code}>`);
    const first = languages.length === 0 ? [] : [`<lang:${String(to ?? MUSTC_LANGUAGES[0])}>`];
    const normalizer = settings['do_lower_case'] === true ? { type: 'Lowercase' } : null;
    return { vocab, frame: around(first, [tokenText(settings['eos_token'])]), languages, normalizer };
  },
  PLBart({ model, settings }) {
    const { language_codes: name = 'base', src_lang: from } = settings;
    if (name !== 'base' && name !== 'multi') throw unknownCodes(name);
    const languages = name === 'base' ? PLBART_BASE : PLBART_MULTI;
    const specials = ['<s>', '<pad>', '</s>', '<unk>'];
    const pieces = model.pieces.slice(3).map(({ text }) => text);
    const rows = [...specials, ...pieces, ...languages, ...(name === 'base' ? ['<mask>'] : [])];
    const ids = rows.map((text, id) => [text, id] as const).toReversed();
    const language = from ?? (name === 'multi' ? 'en_XX' : undefined);
    const last = language === undefined ? [] : [plbartToken(String(language))];
    return {
      vocab: Object.fromEntries(ids),
      frame: around([], [tokenText(settings['eos_token']), ...last]),
      languages,
    };
  },
  M2M100({ vocab, settings }) {
    const codes = languagesOf(settings);
    const first = Object.keys(vocab).length;
    const languages = Object.fromEntries(codes.map((code, i) => [`__${code}__`, first + i]));
    const language = `__${String(settings['src_lang'] ?? 'en')}__`;
    return {
      vocab: { ...vocab, ...languages },
      frame: around([language], [tokenText(settings['eos_token'])]),
    };
  },
};

function languagesOf({ language_codes: name = 'm2m100' }: Json): readonly string[] {
  if (name === 'm2m100') return M2M100_LANGUAGES;
  if (name === 'wmt21') return WMT21_LANGUAGES;
  throw unknownCodes(name);
}

const unknownCodes = (name: unknown): RunError =>
  new RunError('not_ready', `tokenizer_config.json: language_codes ${String(name)} are not known`);

const plbartToken = (code: string): string => (code.startsWith('__') ? code : `__${code}__`);
