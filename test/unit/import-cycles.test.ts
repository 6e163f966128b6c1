import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '../..');
const BIN = join(ROOT, 'node_modules/.bin');

/** What the linter says about these files with the rules of this repository: rule and file of each finding. */
async function lint(files: Record<string, string>): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'import-cycles-'));
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const args = ['--config', join(ROOT, '.oxlintrc.json'), '--format', 'json', folder];
    const { stdout } = await promisify(execFile)(join(BIN, 'oxlint'), args, {
      cwd: folder,
      // The linter looks for its helper for types there.
      env: { ...process.env, PATH: [BIN, process.env['PATH']].join(delimiter) },
    }).catch((error: { code: number; stdout: string }) => error);
    const { diagnostics } = JSON.parse(stdout) as { diagnostics: { code: string; filename: string }[] };
    return diagnostics.map(({ code, filename }) => `${code} ${filename.split('/').at(-1)}`).sort();
  } finally {
    await rm(folder, { recursive: true });
  }
}

const CYCLE = ['import(no-cycle) a.ts', 'import(no-cycle) b.ts'];

test.each([
  [
    'values',
    "import { b } from './b.js';\nexport const a = () => b();\n",
    "import { a } from './a.js';\nexport const b = () => a();\n",
  ],
  [
    'types',
    "import type { B } from './b.js';\nexport interface A {\n  b: B;\n}\n",
    "import type { A } from './a.js';\nexport interface B {\n  a: A;\n}\n",
  ],
  [
    'a type among values, and a value',
    "import { b, type B } from './b.js';\nexport const a = (given: B) => b(given);\n",
    "import { a } from './a.js';\nexport type B = string;\nexport const b = (given: B) => typeof a + given;\n",
  ],
  [
    'a type that is passed on',
    "export type { B } from './b.js';\nexport interface A {\n  a: 1;\n}\n",
    "import type { A } from './a.js';\nexport interface B {\n  a: A;\n}\n",
  ],
  [
    'everything that is passed on',
    "export * from './b.js';\nexport const a = 1;\n",
    "import { a } from './a.js';\nexport const b = () => a;\n",
  ],
])('the linter finds a cycle of %s', async (_, a, b) => {
  expect(await lint({ 'a.ts': a, 'b.ts': b })).toEqual(CYCLE);
});

test('the linter finds a cycle over a third file', async () => {
  const found = await lint({
    'a.ts': "import type { B } from './b.js';\nexport interface A {\n  b: B;\n}\n",
    'b.ts': "import type { C } from './c.js';\nexport interface B {\n  c: C;\n}\n",
    'c.ts': "import type { A } from './a.js';\nexport interface C {\n  a: A;\n}\n",
  });
  expect(found).toEqual([...CYCLE, 'import(no-cycle) c.ts']);
});

test('a type that is named by its file alone is an error, because the linter sees no arrow in it', async () => {
  const found = await lint({
    'a.ts': "import type { B } from './b.js';\nexport interface A {\n  b: B;\n}\n",
    'b.ts': "export interface B {\n  a: import('./a.js').A;\n}\n",
  });
  expect(found).toEqual(['typescript(consistent-type-imports) b.ts']);
});

test('arrows that run one way are no cycle', async () => {
  const found = await lint({
    'a.ts': "import type { B } from './b.js';\nexport interface A {\n  b: B;\n}\n",
    'b.ts': 'export interface B {\n  b: 1;\n}\n',
  });
  expect(found).toEqual([]);
});
