import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../fakes/server.js';
import { folderWith } from '../unit/store/folders.js';

/** What packed weights may lose, on the command line: a network that is packed and tried by `builder fetch`. */

const REPO = join(ROOT, 'test/fixtures/zoo-weights/text-generation/llama-bf16-tied/repo');

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

const fetch = (cache: string, options: string[]): Promise<Ended> =>
  new Promise((resolve) => {
    const main = join(ROOT, 'dist/builder/main.js');
    const args = [main, 'fetch', 'test/model', '--from', REPO, '--cache', cache, ...options];
    const env = { PATH: process.env['PATH'], HOME: cache, TMPDIR: tmpdir() };
    execFile(process.execPath, args, { env }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });

const cache = folderWith();

test('a network that loses more than it may is refused with what it loses', async () => {
  const { code, stdout, stderr } = await fetch(cache, ['--dtype', 'q4', '--max-loss', '0']);
  expect(code).toBe(3);
  expect(stdout).toBe('');
  expect(stderr).toMatch(/its perplexity over bundled texts is \d[\d.]* \(\d[\d.]* before, [+-]\d/);
  expect(stderr).toMatch(
    /q4 loses 0\.\d+ of test\/model, more than --max-loss 0; take more bits \(--dtype q5/,
  );
}, 60_000);

test('what was measured before is asked again, and more may be allowed', async () => {
  expect(await fetch(cache, ['--dtype', 'q4', '--max-loss', '0'])).toMatchObject({ code: 3 });
  expect(await fetch(cache, ['--dtype', 'q4', '--max-loss', '1'])).toMatchObject({ code: 0 });
}, 120_000);

test('weights as they are lose nothing', async () => {
  expect(await fetch(cache, ['--max-loss', '0'])).toMatchObject({ code: 0 });
}, 60_000);

test.each([
  [['--bits', '3'], /expected a number from 4\.5 to 8/],
  [['--bits', '5', '--dtype', 'q8'], /'--bits <number>' cannot be used with option '--dtype/],
  [['--max-loss', '2'], /expected a number from 0 to 1/],
])('%j is wrong usage', async (options, message) => {
  const { code, stderr } = await fetch(cache, options);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
});

test('a budget packs, and the plan is that of the format next to it', async () => {
  const { code, stdout } = await fetch(cache, ['--bits', '5.7', '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ dtype: 'q5' });
}, 60_000);
