import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** Rooms that know types of models: families, and the forms of config.json. */
const ROOMS = /^(models|hub-config)\//;
/** Text Embeddings Inference has a field of that name in its answers. */
const ANSWERS = ['dialects/tei/info.ts'];

test('the server reads no type of a model outside of its families', () => {
  const files = readdirSync(join(ROOT, 'runtime'), { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !ROOMS.test(file),
  );
  const reading = files.filter((file) =>
    withoutComments(readFileSync(join(ROOT, 'runtime', file), 'utf8')).includes('model_type'),
  );
  expect(files.length).toBeGreaterThan(500);
  expect(reading).toEqual(ANSWERS);
});

test('the engines import no family', () => {
  const engines = join(ROOT, 'runtime/engines');
  const files = readdirSync(engines, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const importing = files.filter((file) =>
    /^import (?!type ).*\/models\/(?!writer\/)/m.test(readFileSync(join(engines, file), 'utf8')),
  );
  expect(importing).toEqual([]);
});

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
