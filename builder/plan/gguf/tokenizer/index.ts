import { printable } from '../../../../runtime/core/printable.js';
import { type GgufFacts, type Json, LLAMA_REMEDY } from '../facts.js';
import { jsonText } from '../json-text.js';
import { bytePairs } from './byte-pairs.js';
import { sentencePieceModel } from './sentencepiece.js';
import { type GgufVocabulary, KIND, namedTokens } from './vocabulary.js';
import { isLowerCase, wordPieces } from './word-pieces.js';

const TEMPLATE = 'tokenizer.chat_template';

/**
 * The files of a tokenizer, by path, as a repository of transformers has them.
 * @throws WeightsError for kinds of tokenizers that are not known
 */
export function tokenizerFiles(
  facts: GgufFacts,
  vocabulary: GgufVocabulary,
): Record<string, string | Buffer> {
  const { files, settings } = madeOf(facts, vocabulary);
  const config = { ...settings, ...namedTokens(vocabulary), ...templates(facts) };
  return {
    ...files,
    'tokenizer_config.json': jsonText(config),
    'generation_config.json': jsonText(generation(vocabulary, 'chat_template' in config)),
  };
}

interface Made {
  files: Record<string, string | Buffer>;
  settings: Json;
}

function madeOf(facts: GgufFacts, vocabulary: GgufVocabulary): Made {
  const kind = vocabulary.text('model') ?? 'unnamed';
  if (kind === 'gpt2')
    return {
      files: { 'tokenizer.json': `${JSON.stringify(bytePairs(facts, vocabulary))}\n` },
      settings: { tokenizer_class: 'PreTrainedTokenizerFast', clean_up_tokenization_spaces: false },
    };
  if (kind === 'llama')
    return {
      files: { 'tokenizer.model': sentencePieceModel(facts, vocabulary) },
      settings: trainedSettings(facts, vocabulary),
    };
  if (kind === 'bert')
    return {
      files: { 'vocab.txt': wordPieces(vocabulary) },
      settings: { tokenizer_class: 'BertTokenizer', do_lower_case: isLowerCase(vocabulary) },
    };
  throw facts.refuse(
    `has a tokenizer of the kind ${printable(kind)} (tokenizer.ggml.model), which is not known`,
    LLAMA_REMEDY,
  );
}

function trainedSettings(facts: GgufFacts, vocabulary: GgufVocabulary): Json {
  const frame = {
    add_bos_token: vocabulary.flag('add_bos_token') ?? true,
    add_eos_token: vocabulary.flag('add_eos_token') ?? false,
  };
  if (facts.architecture.startsWith('gemma')) return { tokenizer_class: 'GemmaTokenizer', ...frame };
  const add_prefix_space = vocabulary.flag('add_space_prefix') ?? true;
  return { tokenizer_class: 'LlamaTokenizer', ...frame, legacy: true, add_prefix_space };
}

/** The chat template, and further ones by their names. */
function templates({ metadata }: GgufFacts): Json {
  const main = metadata.get(TEMPLATE);
  const named = [...metadata].flatMap(([key, template]) => {
    const name = key.startsWith(`${TEMPLATE}.`) ? key.slice(TEMPLATE.length + 1) : '';
    return name !== '' && typeof template === 'string' ? [{ name, template }] : [];
  });
  if (typeof main !== 'string') return named.length > 0 ? { chat_template: named } : {};
  return { chat_template: named.length > 0 ? [{ name: 'default', template: main }, ...named] : main };
}

/** Tokens that llama.cpp takes for ends by their texts: files seldom say more than the first of a model's ends. */
const ENDS = new Set([
  ...['<|eot_id|>', '<|im_end|>', '<|end|>', '<|return|>', '<|call|>', '<end_of_turn>', '<|endoftext|>'],
  ...['<|eom_id|>', '<EOT>', '_<EOT>', '<|end_of_text|>', '<end_of_utterance>'],
]);

/** Tokens that end a text, those that end a turn among them where the model holds conversations. */
function generation(vocabulary: GgufVocabulary, talks: boolean): Json {
  const named = ['eos', 'eot', 'eom'].flatMap((name) => vocabulary.special(name) ?? []);
  const ends = [...named, ...(talks ? endsByText(vocabulary) : [])];
  const unique = [...new Set(ends)];
  const [bos, pad] = [vocabulary.special('bos'), vocabulary.special('padding')];
  return {
    ...(bos === undefined ? {} : { bos_token_id: bos }),
    ...(unique.length === 0 ? {} : { eos_token_id: unique.length === 1 ? unique[0] : unique }),
    ...(pad === undefined ? {} : { pad_token_id: pad }),
  };
}

const endsByText = ({ tokens, kinds }: GgufVocabulary): number[] =>
  tokens.flatMap((token, id) =>
    (kinds[id] === KIND.control || kinds[id] === KIND.user) && ENDS.has(token) ? [id] : [],
  );
