import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

const sourcesIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file));

/** Of the object `z` a bundle holds all, with messages in forty languages: half a megabyte that each start compiles. */
test('zod is imported as a namespace, of which a bundle holds what is used', () => {
  const files = ['runtime', 'builder', 'gateway'].flatMap(sourcesIn);
  const taking = files.filter((file) =>
    /^import \{.*\bz\b.*\} from 'zod'/m.test(readFileSync(join(ROOT, file), 'utf8')),
  );
  expect(files.length).toBeGreaterThan(500);
  expect(taking).toEqual([]);
});
