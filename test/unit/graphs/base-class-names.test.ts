import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeGraphs } from '../../../runtime/models/write-graphs.js';
import { folderSource } from '../../../runtime/store/folder.js';
import { rangesOf } from '../../../runtime/store/source.js';
import { readWeightIndex } from '../../../runtime/weights/index.js';

const FIXTURES = join(import.meta.dirname, '../../fixtures');

/** As the base class of a chat model saves them; its head is tied or beside it. */
const ofBaseClass = (name: string): string =>
  name
    .replace(/^language_model\.(?=lm_head\.)/, '')
    .replace(/^language_model\.model\./, 'language_model.')
    .replace(/^model\.(?=embed_tokens|layers|norm)/, 'language_model.')
    .replace(/^model\./, '');

test.each([
  'zoo-v5/image-text-to-text/gemma3-vlm',
  'zoo-v5/image-text-to-text/llava-v5',
  'zoo-weights/image-text-to-text/qwen2-vl',
  'zoo-weights/image-text-to-text/smolvlm',
  'zoo-weights/audio-text-to-text/qwen2-audio',
  'zoo-weights/audio-text-to-text/voxtral',
])('%s is read by the names of its base class, too', async (name) => {
  const dir = join(FIXTURES, name, 'repo');
  const source = folderSource(dir);
  const index = await readWeightIndex(rangesOf(source, await source.info('names')));
  const config = JSON.parse(readFileSync(join(dir, 'config.json'), 'utf8')) as Record<string, unknown>;
  const renamed = new Map([...index].map(([key, tensor]) => [ofBaseClass(key), tensor]));
  const usedOf = (tensors: typeof index) => writeGraphs({ config, index: tensors, head: 'media-chat' }).used;
  const used = usedOf(renamed);
  expect([...used].sort()).toEqual(usedOf(index).map(ofBaseClass).sort());
  expect(used.some((key) => key.startsWith('language_model.') || key.startsWith('text_model.'))).toBe(true);
});
