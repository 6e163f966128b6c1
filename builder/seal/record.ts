import type { TaskId } from '../../runtime/core/task-ids.js';
import type { Docker } from '../docker/docker.js';
import type { IsolatedContainer } from '../docker/isolated.js';
import { BuilderError } from '../exit.js';
import { answerDigest, type Golden, goldenRequest } from './golden.js';
import { cpuInside, type InsideAnswer, runInside, waitUntilReadyInside } from './inside.js';
import { type MeasuredMemory, memoryInside } from './measure.js';

export interface RecordOptions {
  image: string;
  task: TaskId;
  platform: string;
  /** Receives the server's log. */
  onOutput: (text: string) => void;
}

/** Result of running an image once. */
export interface RecordedRun {
  golden: Golden;
  loadSeconds: number;
  memory: MeasuredMemory;
}

/**
 * Starts an image without a network and records its answer to the golden request, with memory and times.
 * @throws BuilderError `failure` when it does not start, refuses the request, or gives two different answers
 */
export async function recordGolden(docker: Docker, options: RecordOptions): Promise<RecordedRun> {
  const { image, task, platform, onOutput } = options;
  const container = await docker.startIsolated({
    image,
    env: { KEY: 'sealing', LOG_FORMAT: 'text' },
    onOutput,
  });
  const started = performance.now();
  try {
    const { example } = await waitUntilReadyInside(container);
    const loadSeconds = Math.round((performance.now() - started) / 100) / 10;
    const request = goldenRequest(task, example);
    const [first, second] = [await answerTo(container, request), await answerTo(container, request)];
    if (!first.bytes.equals(second.bytes))
      throw new BuilderError(
        'failure',
        `${image} answers the same request differently each time: nothing proves it`,
      );
    const golden: Golden = {
      version: 1,
      request,
      response: { status: 200, contentType: first.contentType, ...contentOf(first) },
      sha256: answerDigest(first.bytes),
      recordedOn: { platform, cpu: await cpuInside(container) },
    };
    return { golden, loadSeconds, memory: await memoryInside(container) };
  } finally {
    await container.remove();
  }
}

async function answerTo(container: IsolatedContainer, body: unknown): Promise<InsideAnswer> {
  const answer = await runInside(container, body);
  if (answer.status === 200) return answer;
  const told = answer.bytes.toString('utf8').slice(0, 500);
  throw new BuilderError('failure', `the golden request is answered with ${answer.status}: ${told}`);
}

function contentOf({ contentType, bytes }: InsideAnswer) {
  if (!contentType.includes('json')) return { base64: bytes.toString('base64') };
  return { body: JSON.parse(bytes.toString('utf8')) as unknown };
}
