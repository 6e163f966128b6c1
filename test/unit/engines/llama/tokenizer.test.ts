import { join } from 'node:path';
import { openLlama } from '../../../../runtime/engines/llama/ffi/native-llama.js';
import type { LlamaModel } from '../../../../runtime/engines/llama/llama.js';
import { createLlamaTokenizer } from '../../../../runtime/engines/llama/tokenizer.js';
import { loadTokenizer, type TextTokenizer } from '../../../../runtime/engines/tokenizers/tokenizer.js';
import { convertToGguf } from '../../../fakes/gguf/convert.js';
import { ggufRequest } from './support.js';

const REPO = join(import.meta.dirname, '../../../fixtures/zoo-weights/chat/qwen2-f16-2shards/repo');

const TEXTS = [
  'the quiet river',
  '  two blanks, and\n\n lines\t',
  'Ünïcödé, emoji 😀👍🏽 and 中文字',
  "it's 12345 tests, aren't they?",
  '<|im_start|>user\nhello<|im_end|>\n',
  '',
];

let model: LlamaModel;
let ours: TextTokenizer;
let theirs: TextTokenizer;
beforeAll(async () => {
  const { dir } = ggufRequest(convertToGguf(REPO, 'F16'));
  model = await openLlama().openModel(join(dir, 'model.gguf'), { gpuLayers: 0 });
  theirs = createLlamaTokenizer(model.vocabulary);
  ours = await loadTokenizer(REPO);
});
afterAll(() => model.close());

test.each(TEXTS)('%j has the tokens that tokenizer.json gives, and comes back', (text) => {
  const { ids } = theirs.encode(text);
  expect(ids).toEqual(ours.encode(text).ids);
  expect(theirs.decode(ids)).toBe(ours.decode(ids));
  expect(theirs.decode(ids, { skipSpecialTokens: false })).toBe(text);
});

test.each(TEXTS)('%j: where its tokens lie', (text) => {
  const [found] = theirs.tracedRows([theirs.tokenize(text, { traces: true })]);
  const points = Array.from(text);
  const at = (i: number) => points.slice(found!.starts[i], found!.ends[i]).join('');
  if (Buffer.byteLength(text) === text.length) expect(found!.ids.map((_, i) => at(i)).join('')).toBe(text);
  expect(found!.ends.at(-1) ?? 0).toBe(points.length);
});

test('tokens by their texts and bytes', () => {
  const special = theirs.idOf('<|im_end|>')!;
  expect(special).toBe(ours.idOf('<|im_end|>'));
  expect(theirs.specialText(special)).toBe('<|im_end|>');
  expect(theirs.specialTexts).toEqual(expect.arrayContaining(['<|im_start|>', '<|im_end|>']));
  for (const id of ours.encode(TEXTS[2]!).ids) expect(theirs.bytesOf(id)).toEqual(ours.bytesOf(id));
  expect(theirs.namedId('eos_token')).toBe(special);
  expect(theirs.tokenOf(100_000)).toBeUndefined();
  expect(theirs.idLimit).toBe(512);
});

test.each(TEXTS)('%j has the same tokens where they are made beside this thread', async (text) => {
  const native = createLlamaTokenizer(model.vocabulary);
  expect(await native.encodeAside(text, {})).toEqual(theirs.encode(text).ids);
  const bare = { specialTokens: false, maxLength: 3 };
  expect(await native.encodeAside(text, bare)).toEqual(theirs.encode(text, bare).ids);
});
