import { RunError } from '../../../core/errors.js';
import type { Json } from '../../repository/model-folder.js';
import { tokenText } from '../tokenizer-json.js';
import type { TokenFlags } from './added-rows.js';
import { MBART50_LANGUAGES, MBART_LANGUAGES, NLLB_LANGUAGES } from './languages.js';
import type { SentencePieceModel } from './model-file.js';
import { hasPrefix, isLegacy, type ModelRow, replace, sequence, type SentencePieceFamily } from './family.js';
import { around } from './template.js';

const MASK: TokenFlags = { lstrip: true, normalized: false };
const MARKED: TokenFlags = { normalized: false };
const CLS_SEP = ['[CLS] $A [SEP]', '[CLS] $A [SEP] $B:1 [SEP]:1'] as const;
const S_S = ['<s> $A </s>', '<s> $A </s> </s> $B </s>'] as const;

const zeros = (...texts: string[]): ModelRow[] => texts.map((text) => ({ text, score: 0 }));

/** The four tokens that fairseq puts first; the model's own three are left out. */
const fairseqRows =
  (...behind: string[]) =>
  ({ pieces }: SentencePieceModel): ModelRow[] => [
    ...zeros('<s>', '<pad>', '</s>', '<unk>'),
    ...pieces.slice(3),
    ...zeros(...behind),
  ];

const furtherOf = (settings: Json): unknown[] => (settings['additional_special_tokens'] ?? []) as unknown[];

/** Those of the first list, and those of the second that it lacks. */
const joined = (first: readonly unknown[], second: readonly unknown[]): unknown[] => {
  const known = new Set(first.map(tokenText));
  return [...first, ...second.filter((token) => !known.has(tokenText(token)))];
};

const EXTRA_IDS = 100;
const extraIds = (settings: Json): number => Number(settings['extra_ids'] ?? EXTRA_IDS);
const extraTokens = (settings: Json): string[] =>
  Array.from({ length: extraIds(settings) }, (_, i) => `<extra_id_${i}>`);

const T5: SentencePieceFamily = {
  rows: ({ pieces }, settings) => [...pieces, ...zeros(...extraTokens(settings).toReversed())],
  frame: () => ['$A </s>', '$A </s> $B </s>'],
  choosesPrefix: true,
  flags: { eos_token: MARKED, unk_token: MARKED, pad_token: MARKED },
  further(settings) {
    const given = furtherOf(settings);
    const extra = given.filter((token) => tokenText(token).includes('<extra_id_')).length;
    if (extra === 0) return [...given, ...extraTokens(settings)];
    if (extraIds(settings) > 0 && extra !== extraIds(settings))
      throw new RunError(
        'not_ready',
        `tokenizer_config.json: extra_ids is ${extraIds(settings)}, but there are ${extra}`,
      );
    return given;
  },
};

/** Python's str.isdigit(): decimal digits, and those that are raised, lowered or encircled. */
const DIGIT_AND_COMMA =
  /[\p{Nd}\u00b2\u00b3\u00b9\u1369-\u1371\u19da\u2070\u2074-\u2079\u2080-\u2089\u2460-\u2468\u2474-\u247c\u2488-\u2490\u24ea\u24f5-\u24fd\u24ff\u2776-\u277e\u2780-\u2788\u278a-\u2792\u{10a40}-\u{10a43}\u{10e60}-\u{10e68}\u{11052}-\u{1105a}\u{1f100}-\u{1f10a}],$/u;

/** Pieces like `5,` are left to their parts. */
const withoutNumberCommas = ({ pieces }: SentencePieceModel): ModelRow[] =>
  pieces.map(({ text, score }) => ({ text, score: DIGIT_AND_COMMA.test(text) ? score - 100 : score }));

const ALBERT: SentencePieceFamily = {
  rows: withoutNumberCommas,
  frame: () => CLS_SEP,
  flags: { mask_token: MASK },
  defaults: { do_lower_case: true },
  normalizer: (charsMap, settings) =>
    sequence([
      replace({ String: '``' }, '"'),
      replace({ String: "''" }, '"'),
      ...(settings['keep_accents'] === true ? [] : [{ type: 'NFKD' }, { type: 'StripAccents' }]),
      ...(settings['do_lower_case'] === true ? [{ type: 'Lowercase' }] : []),
      ...charsMap,
      replace({ Regex: ' {2,}' }, ' '),
    ]),
};

const XLNET: SentencePieceFamily = {
  ...ALBERT,
  frame: () => ['$A <sep> <cls>:2', '$A <sep> $B:1 <sep>:1 <cls>:2'],
  further: (settings) => (settings['additional_special_tokens'] ?? ['<eop>', '<eod>']) as unknown[],
  defaults: { do_lower_case: false },
};

const XLM_ROBERTA: SentencePieceFamily = {
  rows: fairseqRows('<mask>'),
  unknownId: () => 3,
  frame: () => S_S,
  flags: { mask_token: MASK },
};

const CAMEMBERT: SentencePieceFamily = {
  ...XLM_ROBERTA,
  rows: ({ pieces }) => [
    ...zeros('<s>NOTUSED', '<pad>', '</s>NOTUSED', '<unk>'),
    { text: '<unk>NOTUSED', score: -100 },
    ...pieces.slice(1),
    ...zeros('<mask>'),
  ],
  further: (settings) =>
    (settings['additional_special_tokens'] ?? ['<s>NOTUSED', '</s>NOTUSED', '<unk>NOTUSED']) as unknown[],
};

const language = (settings: Json, otherwise: string): string => String(settings['src_lang'] ?? otherwise);

const MBART: SentencePieceFamily = {
  ...XLM_ROBERTA,
  rows: fairseqRows(...MBART_LANGUAGES, '<mask>'),
  frame: (settings) => around([], ['</s>', language(settings, 'en_XX')]),
  further: (settings) => joined(MBART_LANGUAGES, furtherOf(settings)),
};

const MBART50: SentencePieceFamily = {
  ...MBART,
  rows: fairseqRows(...MBART50_LANGUAGES, '<mask>'),
  frame: (settings) => around([language(settings, 'en_XX')], ['</s>']),
  flags: { mask_token: { lstrip: true, normalized: true } },
  further: (settings) => joined(furtherOf(settings), MBART50_LANGUAGES),
};

const NLLB: SentencePieceFamily = {
  ...XLM_ROBERTA,
  rows: fairseqRows(),
  frame(settings) {
    const code = language(settings, 'eng_Latn');
    return settings['legacy_behaviour'] === true ? around([], ['</s>', code]) : around([code], ['</s>']);
  },
  flags: {
    ...{ bos_token: MARKED, eos_token: MARKED, unk_token: MARKED, pad_token: MARKED },
    mask_token: { lstrip: true, normalized: true },
  },
  further: (settings) => (settings['additional_special_tokens'] ?? NLLB_LANGUAGES) as unknown[],
};

const DEBERTA: SentencePieceFamily = {
  frame: () => CLS_SEP,
  flags: { unk_token: { normalized: true } },
  normalizer: (charsMap, settings) =>
    sequence([
      ...(settings['do_lower_case'] === true ? [{ type: 'Lowercase' }] : []),
      { type: 'Strip', strip_left: true, strip_right: true },
      ...charsMap,
      replace({ Regex: ' {2,}' }, ' '),
    ]),
  preTokenizer: (metaspace, settings) => ({
    type: 'Sequence',
    pretokenizers: [
      ...(settings['split_by_punct'] === true ? [{ type: 'Punctuation', behavior: 'Isolated' }] : []),
      metaspace,
    ],
  }),
};

/** Tokens of Pegasus' training, before the pieces. */
const offsetOf = (settings: Json): number => Number(settings['offset'] ?? 103);
const unknowns = (from: number, to: number): string[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, i) => `<unk_${from + i}>`);
const sentenceMask = (settings: Json): string => tokenText(settings['mask_token_sent']);

const PEGASUS: SentencePieceFamily = {
  defaults: { mask_token_sent: '<mask_1>' },
  rows({ pieces }, settings) {
    const offset = offsetOf(settings);
    const masks = sentenceMask(settings) === '' ? [] : [sentenceMask(settings)];
    if (masks.length > 0 && offset > 3) masks.push(tokenText(settings['mask_token']));
    return [
      ...zeros(tokenText(settings['pad_token']), tokenText(settings['eos_token']), ...masks),
      ...unknowns(2, offset).map((text) => ({ text, score: -100 })),
      ...pieces.slice(2),
    ];
  },
  unknownId: ({ unknown }, settings) => unknown.id + offsetOf(settings),
  preTokenizer: (metaspace) => ({
    type: 'Sequence',
    pretokenizers: [{ type: 'WhitespaceSplit' }, metaspace],
  }),
  frame(settings) {
    const end = tokenText(settings['eos_token']);
    return [`$A ${end}`, `$A $B ${end}`];
  },
  further(settings) {
    const offset = offsetOf(settings);
    const mask = sentenceMask(settings) === '' ? [] : [sentenceMask(settings)];
    const given = settings['additional_special_tokens'] as unknown[] | null | undefined;
    if (given == null) return [...mask, ...unknowns(2, offset)];
    const all = joined(mask, given);
    return [...all, ...unknowns(all.length, offset - 1)];
  },
};

const BIG_BIRD: SentencePieceFamily = {
  frame: () => CLS_SEP,
  flags: Object.fromEntries([
    ...['bos', 'eos', 'unk', 'pad', 'cls', 'sep'].map((name) => [`${name}_token`, { normalized: true }]),
    ['mask_token', { lstrip: true, normalized: true }],
  ]) as Record<string, TokenFlags>,
};

const BYTES_DECODED = [
  { type: 'Replace', pattern: { String: '▁' }, content: ' ' },
  { type: 'ByteFallback' },
  { type: 'Fuse' },
];
const FRAME_FLAGS = { bos_token: MARKED, eos_token: MARKED, unk_token: MARKED, pad_token: MARKED };

const LLAMA: SentencePieceFamily = {
  unknownId: () => 0,
  bytes: true,
  choosesPrefix: true,
  flags: FRAME_FLAGS,
  normalizer: (_, settings) =>
    isLegacy(settings)
      ? sequence([
          ...(hasPrefix(settings) ? [{ type: 'Prepend', prepend: '▁' }] : []),
          replace({ String: ' ' }, '▁'),
        ])
      : null,
  preTokenizer: (metaspace, settings) => (isLegacy(settings) ? null : { ...metaspace, split: false }),
  decoder: ({ prepend_scheme: scheme }) => ({
    type: 'Sequence',
    decoders: [
      ...BYTES_DECODED,
      ...(scheme === 'never' ? [] : [{ type: 'Strip', content: ' ', start: 1, stop: 0 }]),
    ],
  }),
};

const GEMMA: SentencePieceFamily = {
  unknownId: () => 3,
  bytes: true,
  tabIsByte: true,
  flags: FRAME_FLAGS,
  specialPieces: ['<start_of_turn>', '<end_of_turn>'],
  rows({ pieces }, settings) {
    const names = ['pad_token', 'eos_token', 'bos_token'].map((name) => tokenText(settings[name]));
    const rows: ModelRow[] = [...zeros(...names), ...pieces.slice(3)];
    if (rows.some(({ text }) => text === '\t')) return rows;
    // Older models have a byte in the place of the tab.
    const byte = rows.findIndex(({ text }) => text === '<0x09>');
    return byte < 0 ? rows : rows.with(byte, { text: '\t', score: 0 });
  },
  normalizer: () => replace({ String: ' ' }, '▁'),
  preTokenizer: () => ({
    type: 'Split',
    pattern: { String: ' ' },
    behavior: 'MergedWithPrevious',
    invert: false,
  }),
  decoder: () => ({ type: 'Sequence', decoders: BYTES_DECODED }),
};

/** By the class, without `Tokenizer`. */
export const SENTENCEPIECE_FAMILIES: Readonly<Record<string, SentencePieceFamily>> = {
  T5,
  XLMRoberta: XLM_ROBERTA,
  Camembert: CAMEMBERT,
  MBart: MBART,
  MBart50: MBART50,
  Nllb: NLLB,
  Albert: ALBERT,
  DebertaV2: DEBERTA,
  Pegasus: PEGASUS,
  BigBird: BIG_BIRD,
  XLNet: XLNET,
  Llama: LLAMA,
  Gemma: GEMMA,
};
