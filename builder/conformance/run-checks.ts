import * as z from 'zod';
import { isTaskId } from '../../runtime/core/task-ids.js';
import { printable } from '../../runtime/core/printable.js';
import { BuilderError } from '../exit.js';
import { goldenRequest } from '../seal/golden.js';
import type { Check, CheckResult, Group } from './check.js';
import { afterChecks } from './checks/after.js';
import { ANSWER_CHECKS } from './checks/answers.js';
import { BODY_CHECKS } from './checks/bodies.js';
import { paramChecks } from './checks/params.js';
import { ROUTE_CHECKS } from './checks/routes.js';
import { type Described, parseDocument } from './document.js';
import { CheckFailure, type ServerUnderTest, shown } from './server.js';
import type { Transport } from './transport.js';

export interface RunOptions {
  headers: Readonly<Record<string, string>>;
  recorded?: ServerUnderTest['recorded'];
  /** All groups when absent. */
  only?: readonly Group[] | undefined;
  say(detail: string): void;
}

export interface Conformance {
  described: Described;
  results: CheckResult[];
}

/**
 * Makes all checks of a server that is ready, one after the other.
 * @throws BuilderError `failure` when it does not describe itself
 */
export async function runChecks(transport: Transport, options: RunOptions): Promise<Conformance> {
  const { server, restarts } = await meet(transport, options);
  const { described } = server;
  const all = [
    ...ROUTE_CHECKS,
    ...ANSWER_CHECKS,
    ...paramChecks(described),
    ...BODY_CHECKS,
    ...afterChecks(restarts),
  ].filter(({ group }) => options.only?.includes(group) ?? true);
  const results: CheckResult[] = [];
  for (const [i, check] of all.entries()) {
    options.say(`${i + 1} of ${all.length}: ${check.group}, ${check.name}`);
    results.push(await resultOf(check, server));
  }
  return { described, results };
}

/** Reads how the server describes itself. */
async function meet(
  transport: Transport,
  { headers, recorded }: Pick<RunOptions, 'headers' | 'recorded'>,
): Promise<{ server: ServerUnderTest; restarts: number }> {
  const read = async <T>(path: string, parse: (value: unknown) => T): Promise<T> => {
    const answer = await transport.send({ method: 'GET', path, headers });
    try {
      return parse(JSON.parse(answer.bytes.toString('utf8')));
    } catch {
      const what = `GET ${path} does not describe a model as a server of builder does: ${printable(shown(answer))}`;
      throw new BuilderError('failure', what);
    }
  };
  const described = await read('/openapi.json', parseDocument);
  const { example, engine_restarts: restarts } = (await read('/status', (value) => STATUS.parse(value)))
    .output;
  const golden = isTaskId(described.task) ? goldenRequest(described.task, example) : example;
  return { server: { transport, headers, described, example, golden, recorded }, restarts };
}

const STATUS = z.object({
  output: z.object({
    example: z.record(z.string(), z.unknown()),
    /** Of the model process. */
    engine_restarts: z.int(),
  }),
});

async function resultOf({ group, name, run }: Check, server: ServerUnderTest): Promise<CheckResult> {
  const started = performance.now();
  const { passed, detail } = await run(server).then(
    (detail) => ({ passed: true, detail }),
    (error: unknown) => ({ passed: false, detail: reasonOf(error) }),
  );
  const milliseconds = Math.round(performance.now() - started);
  // Names and texts come from the server under test.
  return { group, check: printable(name), passed, detail: printable(detail), milliseconds };
}

/** A check that failed, a server that does not answer, an answer of another shape. @throws all other errors */
function reasonOf(error: unknown): string {
  if (error instanceof CheckFailure) return error.message;
  if (error instanceof BuilderError && error.exit === 'failure') return error.message;
  if (error instanceof z.ZodError) return z.prettifyError(error).replaceAll('\n', ' ');
  if (error instanceof SyntaxError) return `not JSON: ${error.message}`;
  throw error;
}
