import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { planModel, Refusal } from '../../../../builder/plan/index.js';
import { folderSource } from '../../../../runtime/store/folder.js';
import { graphModel } from '../../../fakes/drawn-weights.js';
import { folderWith } from '../../store/folders.js';

const ZOO = 'test/fixtures/zoo';

type Files = Record<string, string | Uint8Array>;

/** Files of a folder, by their paths. */
function filesOf(dir: string): Files {
  const entries = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return Object.fromEntries(
    entries.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(dir.length + 1), readFileSync(path)];
    }),
  );
}

const refusal = (files: Files, task: string): Promise<string> =>
  planModel({ source: folderSource(folderWith(files)), id: 'zoo/model', task }).then(
    () => 'none',
    (error: unknown) => {
      expect(error).toBeInstanceOf(Refusal);
      return (error as Refusal).message;
    },
  );

const withMark = (content: string | Uint8Array): Uint8Array =>
  Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(content)]);

describe('a byte order mark, which transformers refuses in every file that it reads', () => {
  test.each([
    ['text-classification/distilbert', 'config.json'],
    ['text-classification/distilbert', 'tokenizer.json'],
    ['text-classification/distilbert', 'tokenizer_config.json'],
    ['text-generation/llama', 'generation_config.json'],
    ['sentence-similarity/sbert-mean', 'modules.json'],
    ['sentence-similarity/sbert-mean', '1_Pooling/config.json'],
    ['image-classification/vit-tiny', 'preprocessor_config.json'],
    ['text-to-image/sd-ddim', 'model_index.json'],
    ['text-to-image/sd-ddim', 'scheduler/scheduler_config.json'],
  ])('%s: %s is refused by its name', async (model, path) => {
    const files = filesOf(join(ZOO, model, 'repo'));
    const marked = { ...files, [path]: withMark(files[path] ?? '{}') };
    const task = model.split('/')[0]!;
    expect(await refusal(files, task)).toBe('none');
    expect(await refusal(marked, task)).toBe(
      `${path} of the repository begins with a byte order mark, which Python's json refuses, too; ` +
        'save the file as UTF-8 without it',
    );
  });

  test('does nothing in a file that transformers does not read beside a tokenizer.json', async () => {
    const files = filesOf(join(ZOO, 'text-classification/distilbert/repo'));
    const marked = { ...files, 'special_tokens_map.json': withMark(files['special_tokens_map.json']!) };
    expect(await refusal(marked, 'text-classification')).toBe('none');
  });
});

describe('what is missing is named', () => {
  const llama = filesOf(graphModel('llama'));
  const { 'model.safetensors': weights, ...others } = llama as Record<string, Uint8Array>;
  const shard = 'model-00001-of-00002.safetensors';
  const index = (...shards: string[]) =>
    JSON.stringify({ weight_map: Object.fromEntries(shards.map((file, i) => [`tensor${i}`, file])) });

  test('config.json', async () => {
    const { 'config.json': _, ...files } = llama;
    expect(await refusal(files, 'text-generation')).toMatch(
      /^zoo\/model has no config\.json, so nobody knows .*; put that of the model into \//,
    );
    const exported = filesOf(join(ZOO, 'text-classification/distilbert/repo'));
    delete exported['config.json'];
    expect(await refusal(exported, 'text-classification')).toMatch(/^zoo\/model has no config\.json/);
  });

  test('the index of shards', async () => {
    expect(await refusal({ ...others, [shard]: weights! }, 'text-generation')).toBe(
      `zoo/model: the repository holds ${shard} but no model.safetensors.index.json, which says where each tensor lies; ` +
        'the upload is incomplete: take another revision or another repository',
    );
    const torch = 'pytorch_model-00002-of-00002.bin';
    expect(await refusal({ ...others, [torch]: weights! }, 'text-generation')).toContain(
      'no pytorch_model.bin.index.json',
    );
  });

  test('a shard that the index names', async () => {
    const second = 'model-00002-of-00002.safetensors';
    const files = { ...others, [shard]: weights!, 'model.safetensors.index.json': index(shard, second) };
    expect(await refusal(files, 'text-generation')).toContain(
      `names "${second}", which the repository lacks; the upload is incomplete`,
    );
  });
});
