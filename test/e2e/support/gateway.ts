import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { docker, run } from './process.js';

export interface TestGateway {
  port: number;
  process: ChildProcess;
  /** All that it has written on stderr. */
  log(): string;
  /** POST to a model, or GET without a body. */
  ask(path: string, body?: unknown, signal?: AbortSignal): Promise<Response>;
  /** Ends it with a signal and waits for that. @returns the exit code */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

/** A key for the gateways of one suite. */
export async function newKey(keys: string): Promise<string> {
  const made = await run(process.execPath, ['dist/gateway/main.js', 'keys', 'create', '--keys', keys]);
  return made.stdout.trim();
}

/** `gateway serve` as operators start it; resolves when it has said its address. */
export async function startGateway(
  key: string,
  args: string[],
  start: (command: string, args: string[]) => ChildProcessWithoutNullStreams = spawn,
): Promise<TestGateway> {
  const child = start(process.execPath, ['dist/gateway/main.js', 'serve', ...args]);
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  const [address] = (await Promise.race([
    once(child.stdout.setEncoding('utf8'), 'data'),
    once(child, 'exit').then(([code]) => {
      throw new Error(`the gateway ended with ${String(code)}:\n${log}`);
    }),
  ])) as [string];
  const headers = { authorization: `Key ${key}`, 'content-type': 'application/json' };
  return {
    port: Number(new URL(address).port),
    process: child,
    log: () => log,
    ask: (path, body, signal) =>
      fetch(`${address.trim()}/${path}`, {
        headers,
        signal: signal ?? AbortSignal.timeout(120_000),
        ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      }),
    async end(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      child.kill(signal);
      await once(child, 'exit');
      return child.exitCode;
    },
  };
}

export interface GatewayContainer {
  id: string;
  model: string;
  /** Bytes. */
  limit: number;
  secrets: string;
  ports: string;
  /** It has started up to its program, and waits for a call to its model. */
  waits: boolean;
}

/** What one listing tells of a container; the engine takes a listing at one moment, unlike several inspections. */
interface Listed {
  id: string;
  name: string;
  model: string;
}

/** The containers of a gateway that run now, or all of them; without those that wait for a call, or also those. */
export async function containersOf(
  gateway: string,
  { all = false, waiting = false } = {},
): Promise<GatewayContainer[]> {
  const listed = await listContainers(gateway, all);
  const counted = listed.filter(({ name }) => waiting || !isWaiting(name));
  const inspected = await inspectContainers(counted);
  // One that has been removed since the listing ran at that moment, but its settings are gone.
  return counted.flatMap(({ id, name, model }) => {
    const settings = inspected.get(id);
    return settings ? [{ id, model, waits: isWaiting(name), ...settings }] : [];
  });
}

const isWaiting = (name: string) => name.includes('.waits-');

async function listContainers(gateway: string, all: boolean): Promise<Listed[]> {
  const filter = ['--filter', `label=io.slipway.gateway=${gateway}`, '--no-trunc'];
  const format = '{{.ID}}\t{{.Names}}\t{{.Label "io.slipway.model"}}';
  const lines = await docker('ps', ...(all ? ['--all'] : []), ...filter, '--format', format);
  return lines
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [id = '', name = '', model = ''] = line.split('\t');
      return { id, name, model };
    });
}

async function inspectContainers(listed: readonly Listed[]) {
  if (listed.length === 0) return new Map<string, Pick<GatewayContainer, 'limit' | 'secrets' | 'ports'>>();
  const format = '{{.Id}}\t{{.HostConfig.Memory}}\t{{.Config.Env}}\t{{.NetworkSettings.Ports}}';
  // One that has gone since then is no error.
  const { stdout } = await run('docker', ['inspect', '--format', format, ...listed.map(({ id }) => id)]);
  return new Map(
    stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => {
        const [id = '', limit, secrets = '', ports = ''] = line.split('\t');
        return [id, { limit: Number(limit), secrets, ports }] as const;
      }),
  );
}
