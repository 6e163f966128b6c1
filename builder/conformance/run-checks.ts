import * as z from 'zod';
import { isTaskId } from '../../runtime/core/task-ids.js';
import { printable } from '../../runtime/core/printable.js';
import { BuilderError } from '../exit.js';
import { goldenRequest } from '../seal/golden.js';
import type { Check, CheckResult, Group } from './check.js';
import { afterChecks } from './checks/after.js';
import { ANSWER_CHECKS } from './checks/answers.js';
import { BODY_CHECKS } from './checks/bodies.js';
import { dialectChecks } from './checks/dialects.js';
import { MEDIA_CHECKS } from './checks/media.js';
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
  const { server, restarts } = await serverUnderTest(transport, options);
  const { described } = server;
  const checks = [
    ...ROUTE_CHECKS,
    ...modelChecks(described),
    ...dialectChecks(described),
    ...afterChecks(restarts),
  ];
  return { described, results: await makeChecks(checks, server, options) };
}

/** What asks the model alone, wherever it is served. */
export const modelChecks = (described: Described): Check[] => [
  ...ANSWER_CHECKS,
  ...paramChecks(described),
  ...BODY_CHECKS,
  ...MEDIA_CHECKS,
];

/** One after the other, those of the groups that are wanted. */
export async function makeChecks(
  checks: readonly Check[],
  server: ServerUnderTest,
  { only, say }: Pick<RunOptions, 'only' | 'say'>,
): Promise<CheckResult[]> {
  const wanted = checks.filter(({ group }) => only?.includes(group) ?? true);
  const results: CheckResult[] = [];
  for (const [i, check] of wanted.entries()) {
    say(`${i + 1} of ${wanted.length}: ${check.group}, ${check.name}`);
    results.push(await resultOf(check, server));
  }
  return results;
}

/** The server as it describes itself, and how often its model process was started again. */
export async function serverUnderTest(
  transport: Transport,
  { headers, recorded }: Pick<RunOptions, 'headers' | 'recorded'>,
): Promise<{ server: ServerUnderTest; restarts: number }> {
  const { described, status } = await meet(transport, headers);
  const { example, engine_restarts: restarts } = status;
  const golden = goldenOf(described, example);
  return { server: { transport, headers, described, example, golden, recorded }, restarts };
}

/** The example with parameters that make answers short and equal, where the task is known here. */
export function goldenOf({ task }: Described, example: Record<string, unknown>): Record<string, unknown> {
  return isTaskId(task) ? goldenRequest(task, example) : example;
}

/** Never throws for what the server does: that is a check that fails. */
export async function resultOf({ group, name, run }: Check, server: ServerUnderTest): Promise<CheckResult> {
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
