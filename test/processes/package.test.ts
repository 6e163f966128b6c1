import { jest } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type InstalledPackage, installPackage } from '../fakes/installed.js';
import { freePort, ROOT } from '../fakes/server.js';

jest.setTimeout(120_000);

let installed: InstalledPackage;
beforeAll(async () => void (installed = await installPackage()));

const children: ChildProcess[] = [];
afterEach(() => children.splice(0).forEach((child) => child.kill('SIGKILL')));

function start(command: string, ...args: string[]) {
  const { cwd, env } = installed;
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  return child;
}

async function outputOf(command: string, ...args: string[]): Promise<string> {
  const child = start(command, ...args);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

/** Starts a server that prints its address, or more, as soon as it is ready. */
async function serving(command: string, ...args: string[]) {
  const child = start(command, ...args);
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (said += piece));
  const ended = once(child, 'exit');
  const ready = once(child.stdout, 'data').then(([first]) => String(first));
  const first = await Promise.race([ready, ended.then(([code]) => `ended with ${String(code)}: ${said}`)]);
  const stop = async () => {
    child.kill('SIGTERM');
    return (await ended)[0] as number | null;
  };
  return { first, said: () => said, stop };
}

async function post(url: string, body: object, headers: Record<string, string> = {}) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: answer.status, ...((await answer.json()) as { error: string | null; output: unknown }) };
}

const asked = { text: 'The harbour', params: { max_new_tokens: 4 } };
const answered = { status: 200, error: null, output: expect.stringMatching(/^The harbour \w+/) };

describe('the packed program, installed somewhere', () => {
  test('the tarball holds what runs and what explains it, and nothing of its making', () => {
    const { files, folder } = installed;
    expect(new Set(files.map((file) => file.split('/')[0]))).toEqual(
      new Set([
        ...['LICENSE', 'README.md', 'builder', 'demo', 'dist', 'docs', 'gateway', 'npm-shrinkwrap.json'],
        ...['package.json', 'templates'],
      ]),
    );
    expect(files.filter((file) => /\.ts$|\.slipway|\.built$|^demo\/train/.test(file))).toEqual([]);
    const links = readFileSync(join(ROOT, 'README.md'), 'utf8').matchAll(/\]\((?!http)([^)#]+)/g);
    const broken = [...links].map(([, link]) => link!).filter((link) => !existsSync(join(folder, link)));
    expect(broken).toEqual(['examples/README.md', 'CONTRIBUTING.md']);
  });

  test('builder packs weights, and measures what that loses', async () => {
    const folder = join(ROOT, 'test/fixtures/zoo-weights/text-generation/llama-bf16-tied/repo');
    const place = ['--from', folder];
    const said = await outputOf('builder', 'fetch', 'test/model', ...place, '--dtype', 'q4', '--json');
    expect(JSON.parse(said)).toMatchObject({ dtype: 'q4' });
    const again = start('builder', 'fetch', 'test/model', ...place, '--dtype', 'q4', '--max-loss', '0');
    const [complaint, [code]] = await Promise.all([text(again.stderr), once(again, 'exit')]);
    expect({ code, loses: /q4 loses 0\.\d+ of test\/model/.test(complaint) }).toEqual({
      code: 3,
      loses: true,
    });
  });

  test('both say their version, and builder plans', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    for (const command of ['builder', 'gateway'])
      expect(await outputOf(command, '--version')).toBe(`${version}\n`);
    const from = join(installed.folder, 'demo/model');
    const plan = await outputOf('builder', 'plan', 'slipway/harbour-demo', '--from', from, '--json');
    expect(JSON.parse(plan)).toMatchObject({
      spec: { task: 'text-generation', engine: 'generation' },
      verdict: { fits: true },
    });
  });

  test('builder serves the demo model', async () => {
    const port = await freePort();
    const server = await serving('builder', 'serve', '--demo', '--port', String(port));
    expect(server.first).toContain(`answers at http://127.0.0.1:${port}`);
    expect(await post(`http://127.0.0.1:${port}/run`, asked)).toMatchObject(answered);
    const document = await fetch(`http://127.0.0.1:${port}/openapi.json`);
    expect(await document.json()).toMatchObject({ openapi: expect.stringMatching(/^3\.1/) });
    expect(await server.stop()).toBe(0);
  });

  test('gateway puts the demo model behind the hosted interface', async () => {
    const port = await freePort();
    const server = await serving('gateway', 'serve', '--upstream', 'process', '--port', String(port));
    const base = `http://127.0.0.1:${port}/models/v2`;
    expect(server.first).toBe(`${base}\n`);
    const authorization = `Key ${/slw_\S+/.exec(server.said())?.[0]}`;
    expect(await post(`${base}/slipway/harbour-demo`, asked, { authorization })).toMatchObject(answered);
    const list = await fetch(`${base}/list/models`, { headers: { authorization } });
    expect(await list.json()).toMatchObject({ error: null, output: [{ modelId: 'slipway/harbour-demo' }] });
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toContain('<!doctype html>');
    expect(await server.stop()).toBe(0);
  });

  test('nothing is left in the folder that they are called from', () => {
    expect(readdirSync(installed.cwd)).toEqual([]);
  });
});
