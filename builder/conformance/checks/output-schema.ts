import * as z from 'zod';
import type { Answer } from '../transport.js';
import { demand, outputOf, type ServerUnderTest } from '../server.js';

/** @throws CheckFailure unless it is a 200 whose envelope is as /openapi.json says. @returns the output */
export function requireSchema({ described }: ServerUnderTest, answer: Answer): unknown {
  const output = outputOf(answer);
  const parsed = z.fromJSONSchema(described.response).safeParse({ error: null, output });
  const [issue] = parsed.error?.issues ?? [];
  const place = issue?.path.join('.') ?? '';
  demand(parsed.success, `the answer is not as /openapi.json says: ${place}: ${issue?.message ?? ''}`);
  return output;
}
