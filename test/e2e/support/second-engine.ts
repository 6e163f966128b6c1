import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { docker } from './process.js';

/** An engine of its own on this machine: another data root, no images, no network. */
export interface SecondEngine {
  /** For DOCKER_HOST. */
  host: string;
  docker(...args: string[]): Promise<string>;
  close(): Promise<void>;
}

/** Why none can be had here, or undefined. */
export function secondEngineObstacle(): string | undefined {
  if (process.getuid?.() !== 0) return 'a second Docker Engine is started by root only';
  if (!existsSync('/etc/debian_version')) return 'a second Docker Engine has been tried on Debian only';
  return spawnSync('dockerd', ['--version']).status === 0 ? undefined : 'dockerd is not installed';
}

/** @throws with the engine's log when it does not answer */
export async function startSecondEngine(): Promise<SecondEngine> {
  // Sockets have short paths.
  const folder = await mkdtemp(path.join(tmpdir(), 's2-'));
  const at = (name: string) => path.join(folder, name);
  const host = `unix://${at('s')}`;
  const log = await open(at('log'), 'w');
  const flags = [
    '--data-root',
    at('root'),
    '--exec-root',
    at('exec'),
    '--host',
    host,
    '--pidfile',
    at('pid'),
  ];
  // In a network of its own: an engine that is told to have no bridge removes the first engine's docker0.
  const command = ['--net', 'dockerd', ...flags, '--bridge=none', '--iptables=false'];
  const child = spawn('unshare', command, {
    stdio: ['ignore', log.fd, log.fd],
  });
  const ended = once(child, 'exit');
  const engine: SecondEngine = {
    host,
    docker: (...args) => docker('--host', host, ...args),
    async close() {
      child.kill('SIGTERM');
      await ended;
      await log.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  for (let tries = 0; tries < 120 && child.exitCode === null; tries++) {
    if (spawnSync('docker', ['--host', host, 'info'], { timeout: 10_000 }).status === 0) return engine;
    await delay(500);
  }
  const told = await readFile(at('log'), 'utf8');
  await engine.close();
  throw new Error(`the second engine does not answer:\n${told.slice(-2000)}`);
}
