import { type Duplex, PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type Dockerode from 'dockerode';
import { isNotFound, withEngineErrors } from '../engine-errors.js';
import type { ExecOptions, ExecResult, IsolatedContainer, IsolatedOptions } from '../isolated.js';
import { attach, madeLabels, readOnlyBinds, stop } from './containers.js';

/** IPv6 is off by default without a network, and then attempts fail before the kernel counts them. */
const IPV6_ON = { 'net.ipv6.conf.all.disable_ipv6': '0' };

export async function startIsolated(client: Dockerode, options: IsolatedOptions): Promise<IsolatedContainer> {
  try {
    return await createAndStart(client, options, IPV6_ON);
  } catch (error) {
    if (!(error as Error).message.includes('disable_ipv6')) throw error;
    // The machine has no IPv6 at all.
    return createAndStart(client, options, {});
  }
}

async function createAndStart(
  client: Dockerode,
  options: IsolatedOptions,
  sysctls: Record<string, string>,
): Promise<IsolatedContainer> {
  const { image, entrypoint, env, readOnly = false, memoryBytes, mounts = {} } = options;
  const container = await client.createContainer({
    Image: image,
    ...(entrypoint === undefined ? {} : { Entrypoint: [...entrypoint] }),
    Env: assignments(env),
    ...madeLabels(true),
    Healthcheck: { Test: ['NONE'] },
    HostConfig: {
      NetworkMode: 'none',
      Sysctls: sysctls,
      ReadonlyRootfs: readOnly,
      Binds: readOnlyBinds(mounts),
      ...(readOnly ? { Tmpfs: { '/tmp': '' } } : {}),
      ...(memoryBytes === undefined ? {} : { Memory: memoryBytes, MemorySwap: memoryBytes }),
    },
  });
  try {
    return await startCreated(client, container, options.onOutput);
  } catch (error) {
    await remove(container).catch(() => undefined);
    throw error;
  }
}

async function startCreated(
  client: Dockerode,
  container: Dockerode.Container,
  onOutput: IsolatedOptions['onOutput'],
): Promise<IsolatedContainer> {
  const output = onOutput && (await attach(client, container, onOutput));
  const ended = container.wait({ condition: 'next-exit' }) as Promise<{ StatusCode: number }>;
  ended.catch(() => undefined);
  await container.start();
  return {
    id: container.id,
    exec: (command, options = {}) => withEngineErrors(() => exec(client, container, { ...options, command })),
    wait: () => withEngineErrors(async () => (await Promise.all([ended, output?.done]))[0].StatusCode),
    stop: (graceSeconds) => withEngineErrors(() => stop(container, graceSeconds)),
    remove: () => withEngineErrors(() => remove(container)),
  };
}

async function remove(container: Dockerode.Container): Promise<void> {
  await isNotFound(container.remove({ force: true, v: true }));
}

function assignments(env: Record<string, string>): string[] {
  return Object.entries(env).map(([name, value]) => `${name}=${value}`);
}

interface Exec extends ExecOptions {
  command: readonly string[];
}

async function exec(client: Dockerode, container: Dockerode.Container, options: Exec): Promise<ExecResult> {
  const withStdin = options.stdin !== undefined;
  const created = await container.exec({
    Cmd: [...options.command],
    AttachStdin: withStdin,
    AttachStdout: true,
    AttachStderr: true,
    Env: assignments(options.env ?? {}),
    ...(options.user === undefined ? {} : { User: options.user }),
  });
  const stream = await created.start({ hijack: withStdin, stdin: withStdin, abortSignal: options.signal });
  const [stdout, stderr] = [collected(), collected()];
  client.modem.demuxStream(stream, stdout.into, stderr.into);
  if (withStdin) stream.end(options.stdin);
  await Promise.race([finished(stream, { writable: false, signal: options.signal }), endOf(created, stream)]);
  const { ExitCode } = await created.inspect();
  return { code: ExitCode ?? -1, stdout: stdout.bytes(), stderr: stderr.bytes().toString('utf8') };
}

const LOOK_EVERY_MS = 2000;

/** Engines sometimes leave the stream of a program open after it has ended and all output has arrived. */
async function endOf(started: Dockerode.Exec, stream: Duplex): Promise<void> {
  let quiet = true;
  stream.on('data', () => (quiet = false));
  for (;;) {
    await sleep(LOOK_EVERY_MS, undefined, { ref: false });
    if (stream.destroyed) return;
    if (quiet && !(await started.inspect()).Running) break;
    quiet = true;
  }
  stream.destroy();
}

function collected() {
  const chunks: Buffer[] = [];
  const into = new PassThrough().on('data', (chunk: Buffer) => chunks.push(chunk));
  return { into, bytes: () => Buffer.concat(chunks) };
}
