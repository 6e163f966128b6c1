import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Typed } from '../../helpers/gguf/write-gguf.js';

type Json = Record<string, unknown>;
type Keys = Record<string, Typed | string | number | boolean>;

interface TokenizerJson {
  model: { type: string; vocab: Record<string, number> | [string, number][]; merges?: (string | string[])[] };
  added_tokens: { id: number; content: string; special: boolean }[];
  pre_tokenizer: unknown;
}

const read = (folder: string, name: string): Json =>
  existsSync(join(folder, name)) ? (JSON.parse(readFileSync(join(folder, name), 'utf8')) as Json) : {};

/** Kinds of tokens. */
const [NORMAL, CONTROL, USER_DEFINED, UNUSED] = [1, 3, 4, 5];

/** The tokenizer of a folder as llama.cpp's converter writes it: byte-level BPE or WordPiece. */
export function vocabularyKeys(folder: string, config: Json): Keys {
  const json = read(folder, 'tokenizer.json') as unknown as TokenizerJson;
  if (json.model.type === 'WordPiece') return wordPieceKeys(json);
  if (json.model.type !== 'BPE' || !JSON.stringify(json.pre_tokenizer).includes('ByteLevel'))
    throw new Error('only byte-level BPE and WordPiece are converted here');
  const size = Number(config['vocab_size']);
  const tokens = Array.from({ length: size }, (_, i) => `[PAD${i}]`);
  const types = Array.from({ length: size }, () => UNUSED);
  for (const [token, id] of Object.entries(json.model.vocab as Record<string, number>))
    [tokens[id], types[id]] = [token, NORMAL];
  for (const { id, content, special } of json.added_tokens)
    [tokens[id], types[id]] = [content, special ? CONTROL : USER_DEFINED];
  return {
    'tokenizer.ggml.model': 'gpt2',
    'tokenizer.ggml.pre': JSON.stringify(json.pre_tokenizer).includes('\\\\p{N}|') ? 'qwen2' : 'gpt-2',
    'tokenizer.ggml.tokens': { type: 'list', of: 'string', value: tokens },
    'tokenizer.ggml.token_type': { type: 'list', of: 'i32', value: types },
    'tokenizer.ggml.merges': {
      ...{ type: 'list', of: 'string' },
      value: (json.model.merges ?? []).map((merge) => (Array.isArray(merge) ? merge.join(' ') : merge)),
    },
    ...specialKeys(folder, config),
    ...templateKeys(folder),
  };
}

/** Pieces that go on with a word lose their mark, those that begin one get another. */
function wordPieceKeys({ model, added_tokens }: TokenizerJson): Keys {
  const special = new Map(added_tokens.map(({ content, id }) => [id, content]));
  const entries = Object.entries(model.vocab as Record<string, number>).sort(([, a], [, b]) => a - b);
  const written = (token: string) => (token.startsWith('##') ? token.slice(2) : `\u2581${token}`);
  const tokens = entries.map(([token, id]) => special.get(id) ?? written(token));
  const idOf = (content: string) => [...special].find(([, text]) => text === content)![0];
  return {
    'tokenizer.ggml.model': 'bert',
    'tokenizer.ggml.tokens': { type: 'list', of: 'string', value: tokens },
    'tokenizer.ggml.token_type': {
      ...{ type: 'list', of: 'i32' },
      value: entries.map(([, id]) => (special.has(id) ? CONTROL : NORMAL)),
    },
    'tokenizer.ggml.token_type_count': 2,
    'tokenizer.ggml.bos_token_id': idOf('[CLS]'),
    'tokenizer.ggml.cls_token_id': idOf('[CLS]'),
    'tokenizer.ggml.seperator_token_id': idOf('[SEP]'),
    'tokenizer.ggml.padding_token_id': idOf('[PAD]'),
    'tokenizer.ggml.unknown_token_id': idOf('[UNK]'),
    'tokenizer.ggml.mask_token_id': idOf('[MASK]'),
  };
}

function specialKeys(folder: string, config: Json): Keys {
  const settings = { ...config, ...read(folder, 'generation_config.json') };
  const first = (value: unknown): unknown => (Array.isArray(value) ? value[0] : value);
  const ids = ['bos', 'eos', 'padding'].map((name) => {
    const value = first(settings[`${name === 'padding' ? 'pad' : name}_token_id`]);
    return [`tokenizer.ggml.${name}_token_id`, value] as const;
  });
  const adds = read(folder, 'tokenizer_config.json')['add_bos_token'] === true;
  return {
    ...(Object.fromEntries(ids.filter(([, id]) => typeof id === 'number')) as Keys),
    'tokenizer.ggml.add_bos_token': adds,
  };
}

function templateKeys(folder: string): Keys {
  const file = join(folder, 'chat_template.jinja');
  const template = existsSync(file)
    ? readFileSync(file, 'utf8')
    : read(folder, 'tokenizer_config.json')['chat_template'];
  return typeof template === 'string' ? { 'tokenizer.chat_template': template } : {};
}
