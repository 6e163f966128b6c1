import { createParser } from 'eventsource-parser';
import { Pool } from 'undici';
import * as z from 'zod';
import { USAGE_HEADERS } from '../../runtime/core/usage.js';

/** The request that is sent again and again, with each of its bodies in turn. */
export interface BenchRequest {
  /** Whole address. */
  url: string;
  headers: Readonly<Record<string, string>>;
  /** At least one. */
  bodies: readonly Buffer[];
}

/** What became of one request; times of `performance.now()`. */
export interface Outcome {
  /** When it was to be sent: in an open loop by the schedule, though the client may have been late. */
  due: number;
  sent: number;
  ended: number;
  /** Status of the answer, or the code of the network's error. */
  status: string;
  ok: boolean;
  /** When the first piece of a streamed text has come. */
  first?: number | undefined;
  /** Tokens that were written, as the server counts them, else pieces of the stream. */
  tokens?: number | undefined;
}

export interface Client {
  send(due: number): Promise<Outcome>;
  close(): Promise<void>;
}

/**
 * Keeps connections open, at most as many as given. Proxies of the environment are not used. It reads answers as they come
 * from the socket, without streams of Node.js, which would cost a busy machine a tenth of its requests.
 */
export function openClient(
  { url, headers, bodies }: BenchRequest,
  { connections, timeoutMs }: { connections: number; timeoutMs: number },
): Client {
  const { origin, pathname, search } = new URL(url);
  const limits = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
  const pool = new Pool(origin, { connections, pipelining: 1, ...limits });
  const options = { method: 'POST', path: pathname + search, headers: { ...headers } } as const;
  let sentSoFar = 0;
  return {
    send: (due) =>
      new Promise((resolve) => {
        const sent = performance.now();
        const end = (told: Omit<Outcome, 'due' | 'sent' | 'ended'>) => {
          clearTimeout(late);
          resolve({ due, sent, ended: performance.now(), ...told });
        };
        let abort: ((reason: Error) => void) | undefined;
        // The pool's own limits are on silence; a stream may trickle on for ever.
        const late = setTimeout(() => {
          abort?.(Object.assign(new Error('too late'), { code: 'timeout' }));
          end({ status: 'timeout', ok: false });
        }, timeoutMs);
        let status = 0;
        let reader: AnswerReader = plainReader(undefined);
        const body = bodies[sentSoFar++ % bodies.length]!;
        pool.dispatch(
          { ...options, body },
          {
            onRequestStart(controller) {
              abort = (reason) => controller.abort(reason);
            },
            onResponseStart(_, code, answered) {
              status = code;
              const type = String(answered['content-type'] ?? '');
              reader = type.startsWith('text/event-stream')
                ? eventReader()
                : plainReader(countOf(answered[USAGE_HEADERS.tokensOut]));
            },
            onResponseData: (_, chunk) => reader.read(chunk),
            onResponseEnd() {
              const { failed, ...told } = reader.end();
              end({
                status: failed ? 'broken stream' : String(status),
                ok: status < 400 && !failed,
                ...told,
              });
            },
            onResponseError: (_, error) => end({ status: codeOf(error), ok: false }),
          },
        );
      }),
    close: () => pool.destroy(),
  };
}

type Told = Pick<Outcome, 'first' | 'tokens'> & { failed: boolean };

interface AnswerReader {
  read(chunk: Buffer): void;
  end(): Told;
}

function plainReader(tokens: number | undefined): AnswerReader {
  return { read: () => {}, end: () => ({ first: undefined, tokens, failed: false }) };
}

/** Of the last event, in /run's and in OpenAI's form. */
const USAGE = z.object({
  usage: z.object({ tokens_out: z.number().optional(), completion_tokens: z.number().optional() }).nullish(),
});

/** Reads server-sent events: when the first came, how many there were, and what the last says of tokens. */
function eventReader(): AnswerReader {
  let [first, tokens]: (number | undefined)[] = [];
  let [pieces, failed] = [0, false];
  const parser = createParser({
    onEvent({ event, data }) {
      if (event === 'error') failed = true;
      if (event === undefined && data !== '[DONE]') {
        first ??= performance.now();
        pieces++;
      }
      if (event === 'final' || data.includes('"usage"')) tokens = tokensOf(data) ?? tokens;
    },
  });
  const decoder = new TextDecoder();
  return {
    read: (chunk) => parser.feed(decoder.decode(chunk, { stream: true })),
    end: () => ({ first, tokens: tokens ?? pieces, failed }),
  };
}

function tokensOf(data: string): number | undefined {
  try {
    const { usage } = USAGE.parse(JSON.parse(data));
    return usage?.tokens_out ?? usage?.completion_tokens;
  } catch {
    return undefined;
  }
}

function countOf(header: string | string[] | undefined): number | undefined {
  const count = Number(header);
  return header === undefined || !Number.isFinite(count) ? undefined : count;
}

function codeOf(error: Error & { code?: string }): string {
  return /TIMEOUT/.test(error.code ?? '') ? 'timeout' : (error.code ?? error.name);
}
