import * as z from 'zod';
import { printable } from '../../runtime/core/printable.js';
import { BuilderError } from '../exit.js';
import { type Described, parseDocument } from './document.js';
import { shown } from './server.js';
import type { Transport } from './transport.js';

const STATUS = z.object({
  output: z.object({
    example: z.record(z.string(), z.unknown()),
    /** Of the model process. */
    engine_restarts: z.int(),
    /** By process; null for one that does not run. */
    memory_bytes: z.record(z.string(), z.number().nullish()).optional(),
  }),
});

export interface Met {
  described: Described;
  status: z.output<typeof STATUS>['output'];
}

/**
 * Reads how a server that is ready describes itself.
 * @throws BuilderError `failure` when it does not do so as a server of builder's
 */
export async function meet(transport: Transport, headers: Readonly<Record<string, string>>): Promise<Met> {
  const described = await describedBy(transport, headers);
  return { described, status: await readStatus(transport, headers) };
}

/** What /openapi.json says of the model. @throws BuilderError `failure` when it says nothing of one */
export function describedBy(
  transport: Transport,
  headers: Readonly<Record<string, string>>,
): Promise<Described> {
  return read(transport, { path: '/openapi.json', headers }, parseDocument);
}

export async function readStatus(
  transport: Transport,
  headers: Readonly<Record<string, string>>,
): Promise<Met['status']> {
  return (await read(transport, { path: '/status', headers }, (value) => STATUS.parse(value))).output;
}

async function read<T>(
  transport: Transport,
  { path, headers }: { path: string; headers: Readonly<Record<string, string>> },
  parse: (value: unknown) => T,
): Promise<T> {
  const answer = await transport.send({ method: 'GET', path, headers });
  try {
    return parse(JSON.parse(answer.bytes.toString('utf8')));
  } catch {
    const what = `GET ${path} does not describe a model as a server of builder does: ${printable(shown(answer))}`;
    throw new BuilderError('failure', what);
  }
}
