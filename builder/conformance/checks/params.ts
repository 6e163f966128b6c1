import * as z from 'zod';
import type { Check } from '../check.js';
import type { Described, Schema } from '../document.js';
import {
  CheckFailure,
  demand,
  outputOf,
  post,
  requireError,
  type ServerUnderTest,
  shown,
} from '../server.js';
import { exampleOf, refusedBy } from '../values.js';
import { requireSchema } from './output-schema.js';

/**
 * One check for each parameter that the model describes: an example of it is honoured, or refused by its name; null is taken;
 * what its schema refuses, the server refuses by its name.
 */
export function paramChecks({ params }: Described): Check[] {
  return Object.entries(params).map(([name, schema]) => ({
    group: 'params',
    name,
    run: (server) => checkParam(server, name, schema),
  }));
}

async function checkParam(server: ServerUnderTest, name: string, schema: Schema): Promise<string> {
  const withValue = (value: unknown) => post(server, bodyWith(server, name, value));
  const value = exampleOf(schema);
  const parsed = z.fromJSONSchema(schema).safeParse(value);
  const answer = await withValue(value);
  const said = JSON.stringify(value);
  let outcome: string;
  if (answer.status === 200) {
    requireSchema(server, answer);
    outcome = `${said} is taken`;
  } else {
    outcome = requireError(answer, parsed.success ? [400, 422] : [400], name);
  }
  if (z.fromJSONSchema(schema).safeParse(null).success) await requireNull(server, name);
  for (const wrong of refusedBy(schema)) {
    const refusal = await withValue(wrong);
    demand(
      refusal.status !== 200,
      `${JSON.stringify(wrong)} is taken, against its own schema: ${shown(refusal)}`,
    );
    requireError(refusal, [400], name);
  }
  return outcome;
}

/** Null means that it is not given. */
async function requireNull(server: ServerUnderTest, name: string): Promise<void> {
  const answer = await post(server, bodyWith(server, name, null));
  try {
    outputOf(answer);
  } catch (error) {
    throw new CheckFailure(`null: ${(error as Error).message}`);
  }
}

function bodyWith({ golden }: ServerUnderTest, name: string, value: unknown) {
  return { ...golden, params: { ...(golden['params'] as object | undefined), [name]: value } };
}
