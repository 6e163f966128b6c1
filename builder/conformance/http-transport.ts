import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { BuilderError } from '../exit.js';
import { type Answer, type Call, CALL_TIMEOUT_MS, type Transport } from './transport.js';

/** Longest answer that is read; a video or a mask of a large image is shorter. */
const MOST_BYTES = 512 * 2 ** 20;

/** Sends requests to an address, below which the server's routes are. Proxies of the environment are not used. */
export function httpTransport(address: string): Transport {
  const base = address.replace(/\/+$/, '');
  return { send: (call) => send(base, call) };
}

function send(base: string, { method, path, headers = {}, body }: Call): Promise<Answer> {
  const url = new URL(base + path);
  const open = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const length = body === undefined ? {} : { 'content-length': String(body.length) };
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      sent.destroy();
      const why = `${method} ${path}: no answer from ${url.origin}: ${error.message}`;
      reject(new BuilderError('failure', why, { cause: error }));
    };
    const options = { method, headers: { ...headers, ...length }, agent: false } as const;
    const sent = open(url, options, (answer) => void read(answer).then(resolve, fail));
    sent.once('error', fail);
    sent.setTimeout(CALL_TIMEOUT_MS, () => fail(new Error(`silent for ${CALL_TIMEOUT_MS / 1000} s`)));
    sent.end(body);
  });
}

async function read(answer: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MOST_BYTES) throw new Error(`the answer is longer than ${MOST_BYTES} bytes`);
    chunks.push(chunk);
  }
  return { status: answer.statusCode!, headers: textHeaders(answer), bytes: Buffer.concat(chunks) };
}

function textHeaders({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]),
  );
}
