import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, open, readFile, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { docker } from './process.js';

/** An engine of its own on this machine: another data root, no images, a network name space of its own. */
export interface SecondEngine {
  /** For DOCKER_HOST. */
  host: string;
  docker(...args: string[]): Promise<string>;
  /** Starts a program where the addresses of its containers lead somewhere. */
  spawn(command: string, args: string[], env?: Record<string, string>): ChildProcessWithoutNullStreams;
  /** Ends the engine, and with it its containers, and starts it again. */
  restart(): Promise<void>;
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
  // In a network of its own: an engine that is told to have no bridge removes the first engine's docker0.
  const net = await newNetwork();
  const place = ['--data-root', at('root'), '--exec-root', at('exec'), '--pidfile', at('pid')];
  const flags = [...place, '--host', host, '--bridge=none', '--iptables=false'];

  async function start(): Promise<ChildProcess> {
    const child = spawn('nsenter', [net.flag, 'dockerd', ...flags], { stdio: ['ignore', log.fd, log.fd] });
    for (let tries = 0; tries < 120 && child.exitCode === null; tries++) {
      if (spawnSync('docker', ['--host', host, 'info'], { timeout: 10_000 }).status === 0) return child;
      await delay(500);
    }
    await end(child);
    throw new Error(
      `the second engine does not answer:\n${(await readFile(at('log'), 'utf8')).slice(-2000)}`,
    );
  }

  async function clean(): Promise<void> {
    await end(net.holder);
    await log.close();
    await unmountBelow(folder);
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  let engine = await start().catch(async (error: Error) => {
    await clean();
    throw error;
  });
  return {
    host,
    docker: (...args) => docker('--host', host, ...args),
    spawn: (command, args, env = {}) =>
      spawn('nsenter', [net.flag, command, ...args], { env: { ...process.env, DOCKER_HOST: host, ...env } }),
    async restart() {
      await end(engine);
      engine = await start();
    },
    async close() {
      await end(engine);
      await clean();
    },
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/** An engine that ends while it makes a container leaves that container's file system mounted. */
async function unmountBelow(folder: string): Promise<void> {
  const mounts = (await readFile('/proc/self/mounts', 'utf8'))
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '');
  const left = mounts.filter((mount) => mount.startsWith(`${folder}/`));
  // The last that was mounted lies on top.
  for (const mount of left.toReversed()) spawnSync('umount', ['--lazy', mount]);
}

/** A network name space, which is there as long as its holder. */
async function newNetwork(): Promise<{ holder: ChildProcess; flag: string }> {
  const holder = spawn('unshare', ['--net', 'sleep', 'infinity'], { stdio: 'ignore' });
  const file = `/proc/${holder.pid}/ns/net`;
  const own = await readlink('/proc/self/ns/net');
  while ((await readlink(file)) === own) await delay(10);
  const flag = `--net=${file}`;
  spawnSync('nsenter', [flag, 'ip', 'link', 'set', 'lo', 'up']);
  return { holder, flag };
}
