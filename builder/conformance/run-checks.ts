import * as z from 'zod';
import { isTaskId } from '../../runtime/core/task-ids.js';
import { printable } from '../../runtime/core/printable.js';
import { BuilderError } from '../exit.js';
import { goldenRequest } from '../seal/golden.js';
import type { Check, CheckResult, Group } from './check.js';
import { afterChecks } from './checks/after.js';
import { ANSWER_CHECKS } from './checks/answers.js';
import { BODY_CHECKS } from './checks/bodies.js';
import { DIALECT_CHECKS } from './checks/dialects.js';
import { paramChecks } from './checks/params.js';
import { ROUTE_CHECKS } from './checks/routes.js';
import type { Described } from './document.js';
import { meet } from './meet.js';
import { CheckFailure, type ServerUnderTest } from './server.js';
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
  const { headers, recorded } = options;
  const { described, status } = await meet(transport, headers);
  const { example, engine_restarts: restarts } = status;
  const golden = isTaskId(described.task) ? goldenRequest(described.task, example) : example;
  const server: ServerUnderTest = { transport, headers, described, example, golden, recorded };
  const all = [
    ...ROUTE_CHECKS,
    ...ANSWER_CHECKS,
    ...paramChecks(described),
    ...BODY_CHECKS,
    ...DIALECT_CHECKS,
    ...afterChecks(restarts),
  ].filter(({ group }) => options.only?.includes(group) ?? true);
  const results: CheckResult[] = [];
  for (const [i, check] of all.entries()) {
    options.say(`${i + 1} of ${all.length}: ${check.group}, ${check.name}`);
    results.push(await resultOf(check, server));
  }
  return { described, results };
}

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
