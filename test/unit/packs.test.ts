import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  FIXTURES,
  filesUnder,
  packedModels,
  packOf,
  readPack,
  ROOTS,
  sha256,
} from '../../scripts/packing/format.mjs';

const MOST_BYTES = 60e6;

test('fixtures keep to 60 MB in the tree', () => {
  const kept = filesUnder(FIXTURES).filter((file) => !ROOTS.some((root) => file.startsWith(`${root}/`)));
  const bytes = kept.reduce((sum, file) => sum + statSync(join(FIXTURES, file)).size, 0);
  expect(bytes).toBeLessThanOrEqual(MOST_BYTES);
});

// What lies there is ignored by git: a fixture that was made and not packed would be nowhere else.
test('models are what their packs hold: node scripts/packing/pack.mjs', () => {
  const lying = ROOTS.flatMap((root) =>
    filesUnder(join(FIXTURES, root)).map((file) => {
      const path = `${root}/${file}`;
      return [path, sha256(readFileSync(join(FIXTURES, path)))];
    }),
  );
  const packed = packedModels().flatMap((model) =>
    readPack(packOf(model)).files.map(({ name, sha256: digest }) => [`${model}/${name}`, digest]),
  );
  expect(packed.length).toBeGreaterThan(2000);
  expect(Object.fromEntries(lying)).toEqual(Object.fromEntries(packed));
});
