import { copyFileSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseFile } from '../../builder/plan/gguf/choose-file.js';
import { openGguf } from '../../builder/plan/gguf/open-gguf.js';
import { folderSource } from '../../runtime/store/folder.js';
import { drawnCheckpoint } from '../helpers/gguf/checkpoint.js';
import { ggufOfModel } from '../helpers/gguf/from-model.js';
import { serveCheckpoint } from '../real-weights/support/served.js';

const PARAMS = { max_new_tokens: 12, do_sample: false };
const TEXTS = ['Hello', 'fn(x)=y', '0123456789'];

/** What a server writes of each text. */
async function written(dir: string): Promise<unknown[]> {
  const server = await serveCheckpoint({ dir, task: 'text-generation' });
  try {
    return await Promise.all(TEXTS.map((text) => server.run({ text, params: PARAMS })));
  } finally {
    await server.stop();
  }
}

test('a server of a file of GGUF writes what one of the same weights in safetensors does', async () => {
  const model = await drawnCheckpoint('llama');
  const root = mkdtempSync(join(tmpdir(), 'gguf-'));
  const [gguf, plain] = ['gguf', 'plain'].map((name) => join(root, name)) as [string, string];
  for (const dir of [gguf, plain]) mkdirSync(dir);
  writeFileSync(join(gguf, 'm.gguf'), ggufOfModel(model));
  const source = folderSource(gguf);
  const info = await source.info('org/model');
  const { made } = await openGguf(source, info, await chooseFile(source, info));
  for (const { path, content } of made) if (path !== 'config.json') writeFileSync(join(plain, path), content);
  for (const name of ['config.json', 'model.safetensors'])
    copyFileSync(join(model.dir, name), join(plain, name));
  const [found, wanted] = [await written(gguf), await written(plain)];
  expect(found).toEqual(wanted);
  expect(new Set(found.map((one) => JSON.stringify(one))).size).toBe(TEXTS.length);
}, 240_000);
