import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { planModel } from '../../../../builder/plan/index.js';
import { packingNote } from '../../../../builder/plan/packing-note.js';
import { folderSource } from '../../../../runtime/store/folder.js';
import { graphModel } from '../../../fakes/drawn-weights.js';
import { folderWith } from '../../store/folders.js';

test('a plan warns of four bits for a small network, and offers eight', async () => {
  const read = (name: string) => readFileSync(join(graphModel('llama'), name));
  const files = ['config.json', 'model.safetensors'].map((name) => [name, read(name)] as const);
  const source = folderSource(folderWith({ ...Object.fromEntries(files), 'tokenizer.json': '{}' }));
  const reasonsOf = async (dtype: 'q4' | 'q8' | undefined) =>
    (await planModel({ source, id: 'org/m', task: 'text-generation', dtype })).reasons.join('\n');
  expect(await reasonsOf('q4')).toMatch(/q4 is lossy: a network of 1 million parameters.*--dtype q8/);
  expect(await reasonsOf('q8')).not.toContain('lossy');
  expect(await reasonsOf(undefined)).not.toContain('lossy');
});

test('larger networks, and those that were not counted, are not warned of', () => {
  expect(packingNote('q4', 0.5e9)).toEqual([]);
  expect(packingNote('q4', undefined)).toEqual([]);
  expect(packingNote('q4f16', 270e6)[0]).toContain('270 million');
});
