import * as z from 'zod';
import { differenceOf } from '../../verify/answer.js';
import { CheckFailure, demand, outputOf, post, type ServerUnderTest, shown } from '../server.js';
import type { Answer } from '../transport.js';

/**
 * Asks a route of a dialect in its own words, and compares what it says with POST /run.
 * @param path of the route, with the model's id in it where it has a place for that
 * @returns one line about what was seen
 * @throws CheckFailure with the reason
 */
export type Recipe = (server: ServerUnderTest, path: string) => Promise<string>;

/** Parameters of POST /run that make texts short and equal. */
export const SHORT = { max_new_tokens: 16, do_sample: false };

/** @throws CheckFailure unless it is a 200 */
export function jsonOf(answer: Answer): unknown {
  demand(answer.status === 200, `expected 200: ${shown(answer)}`);
  return JSON.parse(answer.bytes.toString('utf8'));
}

/** A question to POST /run, and the same to a dialect. */
export interface Question {
  /** Body of POST /run. */
  run: Record<string, unknown>;
  ask(): Promise<Answer>;
}

/**
 * What POST /run refuses, the dialect has to refuse; what it answers is given to `compare` with the dialect's answer, a 200.
 * @param compare gives what was seen
 * @throws CheckFailure with the difference
 */
export async function besideRun(
  server: ServerUnderTest,
  { run, ask }: Question,
  compare: (answer: Answer, output: unknown) => unknown,
): Promise<string> {
  const own = await post(server, run);
  const answer = await ask();
  if (own.status !== 200) {
    const both = isRefusal(own) && isRefusal(answer);
    demand(both, `POST /run says ${shown(own)}, and this route ${shown(answer)}`);
    return `refused as by POST /run: ${own.status}`;
  }
  demand(answer.status === 200, `expected 200, as of POST /run: ${shown(answer)}`);
  return `as POST /run: ${summary(compare(answer, outputOf(own)))}`;
}

export interface Comparison extends Question {
  /** What of the dialect's answer should be equal. */
  found(answer: Answer): unknown;
  /** What of the output of POST /run; all of it if absent. */
  wanted?(output: unknown): unknown;
}

/** What POST /run answers, the dialect has to answer; what it refuses, the dialect has to refuse. */
export function sameAsRun(
  server: ServerUnderTest,
  { found, wanted = (output) => output, ...question }: Comparison,
): Promise<string> {
  return besideRun(server, question, (answer, output) => {
    const value = found(answer);
    requireSame(value, wanted(output));
    return value;
  });
}

const isRefusal = ({ status }: Answer): boolean => status >= 400 && status < 500;

/** @throws CheckFailure unless they are equal, numbers within a thousandth */
export function requireSame(found: unknown, wanted: unknown): void {
  const difference = differenceOf(found, wanted);
  if (difference !== undefined) throw new CheckFailure(`not what POST /run says: ${difference}`);
}

const LONGEST = 60;

export function summary(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

const WRITTEN = z.union([
  z.string(),
  z.looseObject({ content: z.string() }).transform(({ content }) => content),
  z.looseObject({ generated_text: z.string() }).transform(({ generated_text: text }) => text),
  z.looseObject({ text: z.string() }).transform(({ text }) => text),
]);

/** The text of an output of POST /run: a text, a message, or one of several. */
export function writtenText(output: unknown): string {
  return WRITTEN.parse([output].flat()[0]);
}
