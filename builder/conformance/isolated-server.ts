import { downloadDir } from '../../runtime/store/paths.js';
import type { Docker, ImageDetails } from '../docker/docker.js';
import type { IsolatedContainer } from '../docker/isolated.js';
import { BuilderError } from '../exit.js';
import { interruptible } from '../interrupt.js';
import { LABEL } from '../images/labels.js';
import { GOLDEN_FILE, parseGolden } from '../seal/golden.js';
import { readText, specOfImage } from '../seal/image-files.js';
import { callInside, waitUntilReadyInside } from '../seal/inside.js';
import type { ModelSpec } from '../../runtime/core/spec.js';
import { portOf, waitUntilListening } from '../verify/offline-run.js';
import type { ServerUnderTest } from './server.js';
import { CALL_TIMEOUT_MS, type Transport } from './transport.js';

/** Any KEY will do; nothing else of this environment is passed on. */
export const TEST_KEY = 'any';

export interface ImageUnderTest {
  image: ImageDetails;
  /** Read-only mounts that hold the weights, where the image doesn't. */
  mounts: Record<string, string>;
  say(detail: string): void;
}

/** Runs a model image without a network while `use` runs, which reaches its server from inside. */
export async function withIsolatedServer<T>(
  docker: Docker,
  { image, mounts, say }: ImageUnderTest,
  use: (transport: Transport, container: IsolatedContainer) => Promise<T>,
): Promise<T> {
  const container = await docker.startIsolated({
    image: image.id,
    mounts,
    env: { KEY: TEST_KEY, LOG_FORMAT: 'text' },
    onOutput: (text) => say(text.trimEnd()),
  });
  return interruptible({ stop: container.remove }, async () => {
    try {
      await waitUntilListening(container, portOf(image.env));
      await waitUntilReadyInside(container);
      return await use(insideTransport(container), container);
    } finally {
      await container.remove();
    }
  });
}

function insideTransport(container: IsolatedContainer): Transport {
  return { send: (call) => callInside(container, { ...call, timeoutMs: CALL_TIMEOUT_MS }) };
}

/** @throws BuilderError `refused` for an image that builder has not made */
export async function modelImage(docker: Docker, reference: string): Promise<ImageDetails> {
  const image = await docker.inspectImage(reference);
  if (!image)
    throw new BuilderError(
      'failure',
      `${reference} is no image of this engine; make it with "builder build"`,
    );
  if (image.labels[LABEL.model] !== undefined) return image;
  throw new BuilderError('refused', `${reference} is no model image: "builder list" shows those that are`);
}

/**
 * Mounts for an image without weights, as `builder run` gives them.
 * @param weights gives the folder on this machine
 */
export async function weightMounts(
  docker: Docker,
  { id, labels }: ImageDetails,
  weights: (spec: ModelSpec) => Promise<string>,
): Promise<Record<string, string>> {
  if (labels[LABEL.baked] === 'true' || labels[LABEL.sealed] === 'true') return {};
  const spec = await specOfImage(docker, id);
  return { [await weights(spec)]: downloadDir('/server/model', spec) };
}

/** The golden request of a sealed image with its answer in JSON; undefined for other images and answers. */
export async function recordedAnswer(
  docker: Docker,
  { id, labels }: ImageDetails,
): Promise<ServerUnderTest['recorded']> {
  if (labels[LABEL.sealed] !== 'true') return undefined;
  const text = await readText(docker, { reference: id, path: GOLDEN_FILE });
  if (text === undefined) throw new BuilderError('failure', `the sealed image holds no ${GOLDEN_FILE}`);
  const { request, response } = parseGolden(text);
  return response.base64 === undefined ? { request, body: response.body } : undefined;
}
