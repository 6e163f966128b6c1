import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseFile } from '../../builder/plan/gguf/choose-file.js';
import { openGguf } from '../../builder/plan/gguf/open-gguf.js';
import { PRE_TOKENIZERS } from '../../builder/plan/gguf/tokenizer/pre-tokenizers.js';
import { openLlama } from '../../runtime/engines/llama/ffi/native-llama.js';
import { createLlamaTokenizer } from '../../runtime/engines/llama/tokenizer.js';
import {
  createTokenizer,
  loadTokenizer,
  type TextTokenizer,
} from '../../runtime/engines/tokenizers/tokenizer.js';
import { folderSource } from '../../runtime/store/folder.js';
import { convertToGguf } from '../fakes/gguf/convert.js';
import { BATTERY, randomTexts } from '../helpers/gguf/battery.js';
import { drawnCheckpoint } from '../helpers/gguf/checkpoint.js';
import { ggufOfModel } from '../helpers/gguf/from-model.js';
import { learnMerges } from '../helpers/gguf/learn-merges.js';

const PAIRS = learnMerges([...BATTERY, ...randomTexts(100, 3)], 600);
const SPECIAL = ['<pad>', '<s>', '</s>', '<turn>'];

const TEXTS = [
  ...[...BATTERY, ...randomTexts(400, 7), ''],
  `${SPECIAL[1]} ${BATTERY[0]}${SPECIAL[3]}\n${BATTERY[3]}`,
];

/** A tiny Llama with a vocabulary of pairs that is cut so, in a folder. */
async function fileWith(pre: string): Promise<string> {
  const { config, tensors } = await drawnCheckpoint('llama');
  const tokens = [...SPECIAL, ...PAIRS.tokens];
  const width = Number(config['hidden_size']);
  const table = {
    type: 'F32',
    shape: [tokens.length, width],
    bytes: new Uint8Array(4 * tokens.length * width),
  };
  const list = <T extends string, V>(of: T, value: V) => ({ type: 'list', of, value }) as const;
  const metadata = {
    'tokenizer.ggml.pre': { type: 'string', value: pre },
    'tokenizer.ggml.tokens': list('string', tokens),
    'tokenizer.ggml.token_type': list(
      'i32',
      tokens.map((_, id) => (id < SPECIAL.length ? 3 : 1)),
    ),
    'tokenizer.ggml.merges': list('string', PAIRS.merges),
    // Converters write what the repository says; where a file doesn't, llama.cpp goes by fewer names.
    'tokenizer.ggml.add_bos_token': { type: 'bool', value: PRE_TOKENIZERS[pre]!.addBos },
    'tokenizer.ggml.bos_token_id': { type: 'u32', value: 1 },
    'tokenizer.ggml.eos_token_id': { type: 'u32', value: 2 },
  } as const;
  const file = ggufOfModel({
    config: { ...config, vocab_size: tokens.length },
    tensors: new Map([
      ...[...tensors].filter(([name]) => !/embed_tokens|lm_head/.test(name)),
      ...[['model.embed_tokens.weight', table] as const, ['lm_head.weight', table] as const],
    ]),
    metadata,
  });
  const dir = mkdtempSync(join(tmpdir(), 'gguf-tokenizer-'));
  writeFileSync(join(dir, 'model.gguf'), file);
  return dir;
}

async function ours(dir: string): Promise<TextTokenizer> {
  const source = folderSource(dir);
  const info = await source.info('org/model');
  const opened = await openGguf(source, info, await chooseFile(source, info));
  const read = async (name: string) =>
    JSON.parse((await opened.source.readText(opened.info, name)) ?? '{}') as never;
  return createTokenizer({ json: await read('tokenizer.json'), config: await read('tokenizer_config.json') });
}

/** Texts of which llama.cpp makes other tokens than the vocabulary's own tokenizer, as which ours cuts them. */
function comparable(pre: string, texts: readonly string[]): string[] {
  // It puts no letters and accents together, which those of these names do first.
  if (PRE_TOKENIZERS[pre]!.normalizer !== null) return texts.map((text) => text.normalize('NFC'));
  // Its pattern of words by capital and small letters has no marks.
  return ['gpt-4o', 'tekken'].includes(pre) ? texts.filter((text) => !/\p{M}/u.test(text)) : [...texts];
}

test.each(Object.keys(PRE_TOKENIZERS))('a text cut by %s has the ids that llama.cpp gives', async (pre) => {
  const dir = await fileWith(pre);
  const model = await openLlama().openModel(join(dir, 'model.gguf'), { gpuLayers: 0 });
  const [theirs, own] = [createLlamaTokenizer(model.vocabulary), await ours(dir)];
  const differing = comparable(pre, TEXTS).filter(
    (text) => JSON.stringify(own.encode(text).ids) !== JSON.stringify(theirs.encode(text).ids),
  );
  const told = differing.slice(0, 5).map((text) => ({
    text,
    own: own
      .encode(text)
      .ids.map((id) => own.tokenOf(id))
      .join('|'),
    theirs: theirs
      .encode(text)
      .ids.map((id) => own.tokenOf(id))
      .join('|'),
  }));
  model.close();
  expect([differing.length, told]).toEqual([0, []]);
});

test('word pieces have the ids that llama.cpp gives', async () => {
  const repo = join(import.meta.dirname, '../fixtures/zoo-weights/feature-extraction/bert-noprefix-f16/repo');
  const dir = mkdtempSync(join(tmpdir(), 'gguf-tokenizer-'));
  writeFileSync(join(dir, 'model.gguf'), convertToGguf(repo, 'F32', { 'bert.attention.causal': false }));
  const model = await openLlama().openModel(join(dir, 'model.gguf'), { gpuLayers: 0 });
  const theirs = createLlamaTokenizer(model.vocabulary);
  const source = folderSource(dir);
  const info = await source.info('org/model');
  const opened = await openGguf(source, info, await chooseFile(source, info));
  for (const name of ['vocab.txt', 'tokenizer_config.json', 'config.json'])
    writeFileSync(join(dir, name), (await opened.source.readText(opened.info, name)) ?? '');
  const own = await loadTokenizer(dir);
  const told = TEXTS.map((text) => ({
    text,
    own: own
      .encode(text)
      .ids.map((id) => own.tokenOf(id))
      .join(' '),
    theirs: theirs
      .encode(text)
      .ids.map((id) => own.tokenOf(id))
      .join(' '),
  })).filter(({ own: found, theirs: wanted }) => found !== wanted);
  model.close();
  expect([told.length, told.slice(0, 8)]).toEqual([0, []]);
});
