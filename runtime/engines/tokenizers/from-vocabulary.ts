import { RunError } from '../../core/errors.js';
import { type Vocabulary, vocabularyOf } from '../../core/vocabulary-files.js';
import { tokenizerClassOf } from '../../hub-config/tokenizer-class.js';
import { type Json, readJson, readOptionalJson, readOptionalText } from '../repository/model-folder.js';
import { tokenizerFamily } from './families.js';
import { convertModel } from './sentencepiece/convert.js';
import { markedPieces } from './marked-pieces.js';
import { type SlowRequest, slowTokenizer } from './sentencepiece/slow.js';
import { readModelFile } from './sentencepiece/model-file.js';
import {
  type AddedToken,
  type Component,
  specialTokensOf,
  type TokenizerFiles,
  type TokenizerJson,
  tokenText,
} from './tokenizer-json.js';

/** What a repository says of its tokenizer, without a tokenizer.json. */
export interface VocabularySettings {
  /** tokenizer_config.json, special_tokens_map.json, config.json */
  config: Json;
  specialTokens: Json | undefined;
  model: Json | undefined;
}

/** A tokenizer.json, and the settings that are read beside it. */
export interface MadeTokenizer extends Pick<
  TokenizerFiles,
  'json' | 'config' | 'specialTokens' | 'complete'
> {}

/**
 * tokenizer.json of a repository that has its vocabulary only, as transformers converts it (convert_slow_tokenizer.py).
 * @throws RunError `not_ready` for a class of tokenizers that is not known, or without its files
 */
export async function tokenizerFromVocabulary(
  dir: string,
  given: VocabularySettings,
): Promise<MadeTokenizer> {
  const { config, specialTokens, model } = given;
  const vocabulary = vocabularyOf(tokenizerClassOf(config, model));
  if (!vocabulary) throw new RunError('not_ready', 'the model has no tokenizer.json');
  const family = tokenizerFamily(given);
  if (vocabulary.kind === 'sentencepiece')
    return trainedTokenizer(dir, { ...given, vocabulary, defaults: family.config ?? {} });
  const settings = { ...family.config, ...specialTokens, ...config };
  const json = await MAKERS[vocabulary.kind](dir, { settings, framed: family.trims === true });
  // Slow classes of word pieces join punctuation to the word before it, and those that are made of them keep that.
  const tidied = vocabulary.kind === 'wordpiece' ? { clean_up_tokenization_spaces: true, ...config } : config;
  return { json, config: tidied, specialTokens };
}

const MAKERS = { wordpiece: wordPieces, bytes: bytePairs, marked: markedPairs };

interface TrainedSettings extends VocabularySettings {
  vocabulary: Vocabulary;
  defaults: Json;
}

/** Of a model of sentencepiece. What special_tokens_map.json says is in the configuration then. */
async function trainedTokenizer(dir: string, given: TrainedSettings): Promise<MadeTokenizer> {
  const { vocabulary, defaults, config, specialTokens } = given;
  const [model, addedTokens] = await Promise.all([
    readModelFile(dir, vocabulary.files[0]!),
    readOptionalJson(dir, 'added_tokens.json'),
  ]);
  const written = config['added_tokens_decoder'] === undefined ? withSpecials(config, specialTokens) : config;
  const settings = { ...defaults, ...written };
  const request = { model, family: vocabulary.family!, settings, written, addedTokens };
  const made = vocabulary.isSlow
    ? slowTokenizer({ ...request, ...(await listBeside(dir, vocabulary)) })
    : convertModel(request);
  return { ...made, specialTokens: undefined, complete: true };
}

/** The ids of pieces where they are not those of the model, and the model that reads what was written, where there are two. */
async function listBeside(
  dir: string,
  { files }: Vocabulary,
): Promise<Pick<SlowRequest, 'vocab' | 'target'>> {
  const target = files.find((name) => name === 'target.spm');
  const vocab = files.includes('vocab.json') ? await readJson<Record<string, number>>(dir, 'vocab.json') : {};
  return { vocab, target: target === undefined ? undefined : await readModelFile(dir, target) };
}

/** special_tokens_map.json overrules tokenizer_config.json, and adds to its further tokens; all are special. */
function withSpecials(config: Json, specialTokens: Json = {}): Json {
  const special = (token: unknown) =>
    typeof token === 'object' && token !== null ? { ...token, special: true } : token;
  const further = 'additional_special_tokens';
  const named = Object.entries(specialTokens).map(([name, token]) => [name, special(token)] as const);
  const listed = [config, specialTokens].flatMap((one) => (one[further] ?? []) as unknown[]).map(special);
  const unique = [
    ...new Map(listed.toReversed().map((token) => [tokenText(token), token])).values(),
  ].toReversed();
  return { ...config, ...Object.fromEntries(named), ...(unique.length > 0 ? { [further]: unique } : {}) };
}

async function wordPieces(dir: string, { settings }: BytePairs): Promise<TokenizerJson> {
  const text = await readOptionalText(dir, 'vocab.txt');
  if (text === undefined)
    throw new RunError('not_ready', 'the model has neither tokenizer.json nor vocab.txt');
  const vocab: Record<string, number> = Object.fromEntries(linesOf(text).map((line, id) => [line, id]));
  const [start, end] = ['cls_token', 'sep_token'].map((name) => tokenText(settings[name])) as [
    string,
    string,
  ];
  return {
    added_tokens: specialRows(vocab, settings),
    // The class's own settings of it are put in at loading (python-loading.ts).
    normalizer: {
      ...{ type: 'BertNormalizer', clean_text: true },
      handle_chinese_chars: settings['tokenize_chinese_chars'] ?? true,
      strip_accents: settings['strip_accents'] ?? null,
      lowercase: settings['do_lower_case'] ?? true,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: framed(vocab, { start, end, twice: start === '<s>' }),
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      ...{ type: 'WordPiece', unk_token: tokenText(settings['unk_token']) },
      ...{ continuing_subword_prefix: '##', max_input_chars_per_word: 100, vocab },
    },
  };
}

interface Frame {
  start: string;
  end: string;
  /** Two ends stand between the texts of a pair, as in MPNet. */
  twice: boolean;
}

function framed(vocab: Record<string, number>, { start, end, twice }: Frame): Component {
  const special = (id: string, type: number) => ({ SpecialToken: { id, type_id: type } });
  const sequence = (id: string, type: number) => ({ Sequence: { id, type_id: type } });
  const single = [special(start, 0), sequence('A', 0), special(end, 0)];
  const between = twice ? [special(end, 0)] : [];
  const ids = [start, end].map((token) => [token, { id: token, ids: [vocab[token]], tokens: [token] }]);
  return {
    type: 'TemplateProcessing',
    single,
    pair: [...single, ...between, sequence('B', 1), special(end, 1)],
    special_tokens: Object.fromEntries(ids) as Json,
  };
}

interface BytePairs {
  settings: Json;
  /** RoBERTa's tokens stand around a text; GPT-2 has none. */
  framed: boolean;
}

async function readPairs(dir: string): Promise<{ vocab: Record<string, number>; merges: string }> {
  const [vocab, merges] = await Promise.all([
    readJson<Record<string, number>>(dir, 'vocab.json'),
    readOptionalText(dir, 'merges.txt'),
  ]);
  if (merges === undefined) throw new RunError('not_ready', 'the model has vocab.json, but no merges.txt');
  return { vocab, merges };
}

async function markedPairs(dir: string, { settings }: BytePairs): Promise<TokenizerJson> {
  const { vocab, merges } = await readPairs(dir);
  const unknown = tokenText(settings['unk_token']);
  return markedPieces({ vocab, merges, addedTokens: specialRows(vocab, settings), unknown });
}

async function bytePairs(dir: string, { settings, framed: isFramed }: BytePairs): Promise<TokenizerJson> {
  const { vocab, merges } = await readPairs(dir);
  const prefix = settings['add_prefix_space'] === true;
  return {
    added_tokens: specialRows(vocab, settings),
    normalizer: null,
    pre_tokenizer: { type: 'ByteLevel', add_prefix_space: prefix, trim_offsets: true, use_regex: true },
    post_processor: isFramed ? robertaFrame(vocab, settings, prefix) : gptFrame(vocab, settings),
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: {
      type: 'BPE',
      ...{ continuing_subword_prefix: '', end_of_word_suffix: '', fuse_unk: false },
      vocab,
      // The first line names the format.
      merges: linesOf(merges)
        .slice(1)
        .map((line) => line.split(/\s+/)),
    },
  };
}

function robertaFrame(vocab: Record<string, number>, settings: Json, prefix: boolean): Component {
  const [end, start] = ['sep_token', 'cls_token'].map((name) => tokenText(settings[name])) as [
    string,
    string,
  ];
  return {
    ...{ type: 'RobertaProcessing', sep: [end, vocab[end]], cls: [start, vocab[start]] },
    ...{ trim_offsets: true, add_prefix_space: prefix },
  };
}

/** OPT's texts begin with a token, GPT-2's don't. */
function gptFrame(vocab: Record<string, number>, settings: Json): Component {
  if (settings['add_bos_token'] !== true)
    return { type: 'ByteLevel', add_prefix_space: true, trim_offsets: false, use_regex: true };
  const bos = tokenText(settings['bos_token']);
  const start = { SpecialToken: { id: bos, type_id: 0 } };
  const sequence = (id: string, type: number) => ({ Sequence: { id, type_id: type } });
  const first = [start, sequence('A', 0)];
  return {
    type: 'TemplateProcessing',
    single: first,
    pair: [...first, sequence('B', 1)],
    special_tokens: { [bos]: { id: bos, ids: [vocab[bos]], tokens: [bos] } },
  };
}

/** Lines without the end of the last one. */
function linesOf(text: string): string[] {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

/**
 * The special tokens; those that the vocabulary lacks get the ids behind it. A mask takes the blank before it where it is
 * written as in RoBERTa.
 */
function specialRows(vocab: Record<string, number>, settings: Json): AddedToken[] {
  const { named, further } = specialTokensOf(settings);
  let next = Object.keys(vocab).length;
  return [...new Set([...Object.values(named), ...further])].map((content) => {
    const lstrip = content === named['mask_token'] && content === '<mask>';
    const flags = { single_word: false, lstrip, rstrip: false, normalized: false };
    return { id: vocab[content] ?? next++, content, ...flags, special: true };
  });
}
