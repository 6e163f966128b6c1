import { readEvents } from './events.js';

/** An answer of the model, as far as it has come. */
export interface Answer {
  /** The output of the envelope; a text grows while it streams. */
  output?: unknown;
  /** A medium as it was sent. */
  medium?: Blob;
  /** Milliseconds from the call to its end, or to now. */
  milliseconds: number;
  /** Pieces of text, which are tokens or a few. */
  pieces: number;
  step?: { step: number; steps: number };
  usage?: Record<string, unknown>;
  requestId?: string;
  isDone: boolean;
}

/** What went wrong, for people. */
export class RunFailure extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly requestId: string | undefined,
  ) {
    super(message);
  }
}

export interface RunOptions {
  /** Where the call is sent. */
  at: string;
  key: string;
  /** Ask for the answer in pieces, or for the steps. */
  asEvents: boolean;
  signal: AbortSignal;
  onProgress(answer: Answer): void;
}

/** POST /run. @throws RunFailure, or an AbortError when the signal fires */
export async function run(body: object, options: RunOptions): Promise<Answer> {
  const { at, key, asEvents, signal, onProgress } = options;
  const started = performance.now();
  const response = await fetch(at, {
    method: 'POST',
    signal,
    headers: {
      'Content-Type': 'application/json',
      ...(asEvents ? { Accept: 'text/event-stream, application/json;q=0.9' } : {}),
      ...(key ? { Authorization: `Key ${key}` } : {}),
    },
    body: JSON.stringify(asEvents ? { ...body, stream: true } : body),
  });
  const requestId = response.headers.get('X-Request-Id') ?? undefined;
  const type = response.headers.get('Content-Type') ?? '';
  const answer: Answer = { milliseconds: 0, pieces: 0, isDone: false, requestId };
  const now = (more: Partial<Answer>) =>
    Object.assign(answer, more, { milliseconds: performance.now() - started });
  if (!response.ok) throw new RunFailure(await messageOf(response), response.status, requestId);
  if (type.startsWith('text/event-stream')) {
    for await (const event of readEvents(response.body!)) {
      if (event.name === 'error') throw new RunFailure(textOf(event.data.error), 200, requestId);
      onProgress({ ...now(changeBy(answer, event)) });
    }
  } else if (type.startsWith('application/json')) {
    now({ output: ((await response.json()) as { output: unknown }).output });
  } else {
    now({ medium: await response.blob() });
  }
  return { ...now({ isDone: true }) };
}

interface RunEvent {
  name: string;
  data: Record<string, unknown>;
}

function changeBy(answer: Answer, { name, data }: RunEvent): Partial<Answer> {
  if (name === 'progress') return { step: data as unknown as Answer['step'] };
  if (name === 'final') return { output: data['output'], usage: data['usage'] as Answer['usage'] };
  const text = typeof data['text'] === 'string' ? data['text'] : '';
  return { output: `${textOf(answer.output)}${text}`, pieces: answer.pieces + 1 };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

async function messageOf(response: Response): Promise<string> {
  const text = await response.text();
  try {
    return (JSON.parse(text) as { error: string }).error;
  } catch {
    return text.slice(0, 300) || response.statusText;
  }
}
