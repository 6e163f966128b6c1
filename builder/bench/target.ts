import { isModelId } from '../../runtime/core/ids.js';
import { freePort } from '../../runtime/network/free-port.js';
import { modelImage, TEST_KEY, weightMounts } from '../conformance/isolated-server.js';
import { deviceOf, LABEL } from '../images/labels.js';
import { httpTransport } from '../conformance/http-transport.js';
import { meet, readStatus } from '../conformance/meet.js';
import type { CommandDeps } from '../deps.js';
import type { ImageDetails } from '../docker/docker.js';
import { BuilderError } from '../exit.js';
import { fetchWeights } from '../fetch-weights.js';
import { LOCAL_KEY, localServer } from '../local-server.js';
import type { SourceFlags } from '../options.js';
import { decideModel } from '../pack/decide-model.js';
import type { Report } from '../report.js';
import { waitForHealth } from '../wait-for-health.js';
import { ownBodies } from './bodies.js';
import type { BenchRequest } from './client.js';

export interface TargetFlags extends SourceFlags {
  /** Files with the bodies that are sent in turn instead of the model's example. */
  body?: string[];
  /** A file with such bodies, one in each line. */
  bodies?: string;
  stream: boolean;
}

/** What is measured: a server that runs as long as the measurement does. */
export interface Target {
  name: string;
  request: BenchRequest;
  /** Milliseconds from the start to ready; null for a server that ran before. */
  coldStartMs: number | null;
  /** Bytes that it takes now; null where that is not told. */
  memory(): Promise<number | null>;
  close(): Promise<void>;
}

export interface TargetContext {
  flags: TargetFlags;
  deps: CommandDeps;
  report: Report;
}

/** A server at an address, a container of an image, or a model as `builder serve` serves it. */
export async function openTarget(given: string, context: TargetContext): Promise<Target> {
  if (/^https?:\/\//i.test(given)) return addressTarget(given, context);
  const image = await imageNamed(given, context);
  if (image) return imageTarget(given, image, context);
  if (isModelId(given)) return serveTarget(given, context);
  throw new BuilderError(
    'usage',
    `${given} is neither an address, nor an image of this engine, nor a model id`,
  );
}

/** An id may have the form of an image's name, and an engine is not needed for it. */
async function imageNamed(given: string, { deps, flags }: TargetContext): Promise<ImageDetails | undefined> {
  if (flags.from !== undefined) return undefined;
  const found = await deps.docker.inspectImage(given).catch((error: unknown) => {
    if (error instanceof BuilderError && error.exit === 'docker' && isModelId(given)) return undefined;
    throw error;
  });
  return found?.labels[LABEL.model] === undefined ? undefined : modelImage(deps.docker, given);
}

const READY_MS = 60_000;

async function addressTarget(given: string, context: TargetContext): Promise<Target> {
  if (!URL.canParse(given)) throw new BuilderError('usage', `${given} is no address`);
  const { key } = context.deps.config;
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Key ${key}` };
  const target = { name: given, coldStartMs: null, close: async () => undefined };
  if (new URL(given).pathname !== '/') {
    if (context.flags.body === undefined && context.flags.bodies === undefined)
      throw new BuilderError(
        'usage',
        `${given} is the address of a route: say with --body or --bodies what it is sent`,
      );
    const request = await requestTo(given, { headers, context, streams: false });
    return { ...target, request, memory: async () => null };
  }
  const address = new URL(given).origin;
  await waitForHealth(address, {
    signal: AbortSignal.timeout(READY_MS),
    onWaiting: context.report.note,
  }).catch(() => {
    throw new BuilderError('failure', `${given} is not ready after ${READY_MS / 1000} s`);
  });
  return { ...target, ...(await served(address, { headers, context })) };
}

async function imageTarget(given: string, image: ImageDetails, context: TargetContext): Promise<Target> {
  const { deps, flags, report } = context;
  const { docker } = deps;
  const mounts = await weightMounts(docker, image, (spec) =>
    fetchWeights({ id: spec.id, flags, report, model: { spec } }, deps),
  );
  return report.step(`Start ${given}`, async () => {
    const started = performance.now();
    const container = await docker.startContainer({
      ...{ image: image.id, env: { KEY: TEST_KEY }, hostPort: 0, hostAddress: '127.0.0.1', mounts },
      ...{ device: deviceOf(image.labels) ?? 'cpu', autoRemove: true, temporary: true },
    });
    const close = () => container.stop(STOP_SECONDS);
    const address = `http://127.0.0.1:${container.port}`;
    const server = { address, key: TEST_KEY, ended: container.wait(), close };
    const opened = await whenReady(server, started, context);
    return { ...opened, name: given, memory: async () => (await container.memory()) ?? null };
  });
}

const STOP_SECONDS = 10;

async function serveTarget(id: string, context: TargetContext): Promise<Target> {
  const { deps, flags, report } = context;
  const model = await decideModel({ id, flags, report }, deps);
  const dir = await fetchWeights({ id, flags, report, model }, deps);
  const port = await freePort();
  return report.step(`Start ${id} on this machine`, async () => {
    const started = performance.now();
    const settings = { port, address: '127.0.0.1', device: 'auto', quiet: true } as const;
    const process = localServer({ settings, flags, spec: model.spec, dir }, deps);
    const close = async () => {
      process.stop('SIGTERM');
      await process.ended;
    };
    const key = deps.config.key ?? LOCAL_KEY;
    const server = { address: `http://127.0.0.1:${port}`, key, ended: process.ended, close };
    return { ...(await whenReady(server, started, context)), name: id };
  });
}

interface Started {
  address: string;
  key: string;
  ended: Promise<number>;
  close(): Promise<void>;
}

/** Waits for a server that has just been started; it ends when that fails. */
async function whenReady(
  { address, key, ended, close }: Started,
  started: number,
  context: TargetContext,
): Promise<Omit<Target, 'name'>> {
  const waiting = new AbortController();
  try {
    const ready = waitForHealth(address, { signal: waiting.signal, onWaiting: () => undefined, everyMs: 20 });
    const code = await Promise.race([ready, ended]);
    if (typeof code === 'number') throw new BuilderError('failure', `the server ended with status ${code}`);
    const coldStartMs = performance.now() - started;
    const headers = { authorization: `Key ${key}` };
    return { coldStartMs, close, ...(await served(address, { headers, context })) };
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  } finally {
    waiting.abort();
  }
}

interface Served {
  headers: Readonly<Record<string, string>>;
  context: TargetContext;
}

/** The request and the memory of a server that describes itself. */
async function served(
  address: string,
  { headers, context }: Served,
): Promise<Pick<Target, 'request' | 'memory'>> {
  const transport = httpTransport(address);
  const { described, status } = await meet(transport, headers);
  const streams = described.streams && context.flags.stream;
  const request = await requestTo(`${address}/run`, { headers, context, streams, example: status.example });
  return {
    request,
    memory: async () => {
      const { memory_bytes: bytes } = await readStatus(transport, headers);
      return bytes ? Object.values(bytes).reduce<number>((sum, each) => sum + (each ?? 0), 0) : null;
    },
  };
}

interface Asked extends Served {
  streams: boolean;
  example?: Record<string, unknown>;
}

async function requestTo(url: string, { headers, context, streams, example }: Asked): Promise<BenchRequest> {
  const own = await ownBodies(context.flags);
  const stream = streams ? { stream: true } : {};
  const bodies = own ?? [Buffer.from(JSON.stringify({ ...example, ...stream }))];
  const accept: Record<string, string> = streams ? { accept: 'text/event-stream' } : {};
  return { url, headers: { 'content-type': 'application/json', ...accept, ...headers }, bodies };
}
