import { createServer } from 'node:http';
import { mkdtempSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runChecks } from '../../../builder/checks.js';
import { readBuilderConfig } from '../../../builder/config.js';
import { BuilderError } from '../../../builder/exit.js';
import { fakeDocker } from '../../fakes/docker.js';

const folder = mkdtempSync(path.join(tmpdir(), 'slipway-checks-'));

async function stateOf(check: string, changes: Partial<Parameters<typeof runChecks>[0]> = {}, env = {}) {
  const config = readBuilderConfig({ XDG_CACHE_HOME: folder, HF_ENDPOINT: 'http://127.0.0.1:9', ...env });
  const deps = { config, docker: fakeDocker(), packageRoot: folder, nodeVersion: 'v24.1.0', ...changes };
  return (await runChecks(deps)).find((result) => result.check === check)!;
}

describe('doctor', () => {
  test.each([
    ['v20.18.0', 'fail'],
    ['v20.19.0', 'ok'],
    ['v24.0.0', 'ok'],
    ['v18.20.0', 'fail'],
  ])('Node.js %s: %s', async (nodeVersion, state) => {
    expect(await stateOf('node', { nodeVersion })).toMatchObject({ state });
  });

  test('without ffmpeg there is a remedy, and the check passes', async () => {
    expect(await stateOf('ffmpeg', { ffmpeg: path.join(folder, 'none') })).toMatchObject({
      state: 'warn',
      remedy: expect.stringContaining('install ffmpeg'),
    });
  });

  test('an engine that does not answer fails with a remedy', async () => {
    const docker = { ...fakeDocker(), info: () => Promise.reject(new BuilderError('docker', 'no engine')) };
    expect(await stateOf('docker', { docker })).toMatchObject({
      state: 'fail',
      detail: 'no engine',
      remedy: expect.stringContaining('start Docker'),
    });
    expect(await stateOf('docker')).toMatchObject({
      state: 'ok',
      detail: expect.stringContaining('linux/amd64'),
    });
  });

  test('a hub that does not answer is a warning, any answer is fine', async () => {
    expect(await stateOf('hub')).toMatchObject({ state: 'warn' });
    const hub = createServer((_, response) => response.writeHead(404).end()).listen(0, '127.0.0.1');
    await new Promise((resolve) => hub.once('listening', resolve));
    const HF_ENDPOINT = `http://127.0.0.1:${(hub.address() as AddressInfo).port}`;
    expect(await stateOf('hub', {}, { HF_ENDPOINT })).toMatchObject({ state: 'ok', detail: HF_ENDPOINT });
    hub.close();
  });

  test('a server that was not built fails', async () => {
    expect(await stateOf('server')).toMatchObject({ state: 'fail', remedy: 'run "npm run build"' });
  });

  test('a token is never shown, a file that can not be read fails', async () => {
    const found = await stateOf('token', {}, { HF_TOKEN: 'hf_secret' });
    expect(found.state).toBe('ok');
    expect(JSON.stringify(found)).not.toContain('hf_secret');
    expect(await stateOf('token', {}, { HF_TOKEN_FILE: '/nonexistent' })).toMatchObject({ state: 'fail' });
  });

  test('the cache must be a folder that can be written', async () => {
    expect(await stateOf('cache')).toMatchObject({ detail: expect.stringContaining('free in') });
    expect(await stateOf('cache', {}, { XDG_CACHE_HOME: '/dev/null' })).toMatchObject({ state: 'fail' });
  });
});
