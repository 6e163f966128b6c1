import { listedTokensOf } from './check-json.js';
import type { Json } from '../repository/model-folder.js';
import { isSavedByVersion5, tokenizerClassOf } from '../../hub-config/tokenizer-class.js';
import { type TokenizerFamily, tokenizerFamily } from './families.js';
import {
  type AddedToken,
  type Component,
  specialFlags,
  specialTexts,
  type TokenizerFiles,
  type TokenizerJson,
  tokenText,
} from './tokenizer-json.js';

/**
 * What transformers' AutoTokenizer makes of the files: its classes overrule parts of tokenizer.json by what
 * tokenizer_config.json says, or by their own defaults where it says nothing.
 */
export function applyPythonLoading(files: TokenizerFiles): { json: TokenizerJson; config: Json } {
  const family = tokenizerFamily(files);
  const given = { ...padToken(files.json), ...family.config, ...files.config, ...legacyTokens(files) };
  const isNew = isSavedByVersion5(files.config, files.model);
  const config = isNew ? asVersion5(given, files.json) : given;
  const json = isNew ? withPieces(files.json, family, config) : files.json;
  const added = files.complete ? files.json.added_tokens : addedTokens(files.json, config);
  const normalizer = bertNormalizer(json.normalizer, family, config);
  return {
    config,
    json: {
      ...json,
      model: { ...files.json.model, foreign_score: family.foreignScore },
      added_tokens: added,
      normalizer: files.lowerCase || family.lowers ? lowerCased(normalizer) : normalizer,
      pre_tokenizer:
        isNew && hasNoClass(files) ? json.pre_tokenizer : withPrefixSpace(json.pre_tokenizer, config),
      // Version 5 takes what tokenizer.json puts around texts.
      post_processor:
        family.frame && (!isNew || files.complete)
          ? bosEosTemplate(family.frame, config, added)
          : withTrims(files.json.post_processor, family, config),
    },
  };
}

/** Settings as version 5 has them: one of two lists of further tokens, and blanks before punctuation stay in texts of byte pairs. */
function asVersion5(config: Json, { model }: TokenizerJson): Json {
  const { additional_special_tokens: older, ...settings } = config;
  const further = config['extra_special_tokens'];
  // As an object it names tokens of the model, and the older list counts.
  const isListed = Array.isArray(further) && further.length > 0;
  const forced = config['clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output'] === true;
  return {
    ...settings,
    ...(isListed || older === undefined ? {} : { additional_special_tokens: older }),
    ...(model.type === 'BPE' && !forced ? { clean_up_tokenization_spaces: false } : {}),
  };
}

/** Byte pairs that were written by version 5: its class sets how texts are normalised and cut. */
function withPieces(json: TokenizerJson, { pieces }: TokenizerFamily, config: Json): TokenizerJson {
  if (pieces === undefined || json.model.type !== 'BPE') return json;
  const split = { type: 'Split', pattern: { Regex: pieces }, behavior: 'Isolated', invert: false };
  const bytes = {
    ...{ type: 'ByteLevel', add_prefix_space: config['add_prefix_space'] === true },
    ...{ trim_offsets: true, use_regex: false },
  };
  const pre_tokenizer = { type: 'Sequence', pretokenizers: [split, bytes] };
  return { ...json, normalizer: { type: 'NFC' }, pre_tokenizer, decoder: bytes };
}

/** The padding token that tokenizer.json pads with, where neither class nor configuration names one. */
function padToken({ padding }: TokenizerJson): Json {
  return padding?.pad_token === undefined ? {} : { pad_token: padding.pad_token };
}

/** special_tokens_map.json counts only beside a tokenizer_config.json of the older kind. */
function legacyTokens({ config, specialTokens }: TokenizerFiles): Json {
  return config['added_tokens_decoder'] === undefined ? (specialTokens ?? {}) : {};
}

function bertNormalizer(
  normalizer: Component | null,
  { bert }: TokenizerFamily,
  config: Json,
): Component | null {
  if (!bert || normalizer?.type !== 'BertNormalizer') return normalizer;
  return {
    ...normalizer,
    lowercase: config['do_lower_case'] ?? true,
    strip_accents: config['strip_accents'] ?? null,
    ...(bert === 'all' ? { handle_chinese_chars: config['tokenize_chinese_chars'] ?? true } : {}),
  };
}

/** Texts in lower case before all else, where a normalizer doesn't have them so already. */
function lowerCased(normalizer: Component | null): Component {
  const steps = normalizer?.type === 'Sequence' ? (normalizer['normalizers'] as Component[]) : [normalizer];
  const given = steps.filter((step) => step !== null);
  if (normalizer && given.some((step) => step.type === 'Lowercase')) return normalizer;
  return { type: 'Sequence', normalizers: [{ type: 'Lowercase' }, ...given] };
}

/** Version 5 takes tokenizer.json as it is where no class of a model reads it. */
const hasNoClass = ({ config, model }: TokenizerFiles): boolean =>
  ['TokenizersBackend', 'PreTrained', ''].includes(tokenizerClassOf(config, model));

/** Where the configuration says null, what tokenizer.json says stands. */
function withPrefixSpace(preTokenizer: Component | null, config: Json): Component | null {
  if (preTokenizer?.type !== 'ByteLevel' || config['add_prefix_space'] === null) return preTokenizer;
  return { ...preTokenizer, add_prefix_space: config['add_prefix_space'] === true };
}

/** RoBERTa's classes set what their post-processor does with blanks, where it does anything. */
function withTrims(processor: Component | null, { trims }: TokenizerFamily, config: Json): Component | null {
  if (!trims || !processor || processor['trim_offsets'] === undefined) return processor;
  return {
    ...processor,
    add_prefix_space: config['add_prefix_space'] === true,
    trim_offsets: config['trim_offsets'] ?? true,
  };
}

function bosEosTemplate(frame: { bos: boolean }, config: Json, added: AddedToken[]): Component {
  const wanted = (key: string, otherwise: boolean) =>
    (config[`add_${key}`] ?? otherwise) === true ? [tokenText(config[key])] : [];
  const item = (type: number) => (content: string) => ({ SpecialToken: { id: content, type_id: type } });
  const before = wanted('bos_token', frame.bos);
  const after = wanted('eos_token', false);
  const ids = [...before, ...after].map((content) => {
    const token = added.find((row) => row.content === content);
    return [content, { ids: token ? [token.id] : [] }] as const;
  });
  const around = (id: string, type: number) => [
    ...before.map(item(type)),
    { Sequence: { id, type_id: type } },
    ...after.map(item(type)),
  ];
  return {
    type: 'TemplateProcessing',
    single: around('A', 0),
    pair: [...around('A', 0), ...around('B', 1)],
    special_tokens: Object.fromEntries(ids),
  };
}

/** Adds what tokenizer_config.json lists and tokenizer.json doesn't; special tokens always become added ones. */
function addedTokens(json: TokenizerJson, config: Json): AddedToken[] {
  const rows = new Map(json.added_tokens.map((token) => [token.content, token]));
  const ids: Record<string, number> = Array.isArray(json.model.vocab)
    ? Object.fromEntries(json.model.vocab.map(([token], id) => [token, id]))
    : json.model.vocab;
  let next = Math.max(-1, ...json.added_tokens.map((token) => token.id), Object.keys(ids).length - 1) + 1;
  const specials = specialTexts(config);
  const add = (token: Partial<AddedToken> & { content: string }) => {
    const id = rows.get(token.content)?.id ?? ids[token.content] ?? next++;
    const special = token.special === true || specials.has(token.content);
    const flags = { single_word: false, lstrip: false, rstrip: false, normalized: !special };
    rows.set(token.content, { ...flags, ...token, special, id });
  };
  for (const token of listedTokensOf(config)) add({ ...token, content: token.content! });
  const legacy = config['added_tokens_decoder'] === undefined;
  const flags = specialFlags(config);
  for (const content of specials) {
    const known = rows.get(content);
    if (!known) add({ ...flags.get(content), content });
    // Beside a configuration of the older kind, Python registers named tokens anew, as special ones.
    else if (legacy) rows.set(content, { ...known, special: true });
  }
  return [...rows.values()];
}
