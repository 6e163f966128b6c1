import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { requestSchema } from '../../runtime/openapi.js';
import { taskOf } from '../../runtime/tasks/registry.js';
import { SEALED_DIR } from './manifest.js';

export const GOLDEN_FILE = `${SEALED_DIR}/golden.json`;

const golden = z.object({
  version: z.literal(1),
  /** Body of POST /run. */
  request: z.record(z.string(), z.unknown()),
  response: z.object({
    status: z.literal(200),
    contentType: z.string(),
    /** Of an answer in JSON. */
    body: z.unknown().optional(),
    /** Of any other answer. */
    base64: z.string().optional(),
  }),
  /** Hash of the answer's bytes. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  recordedOn: z.object({ platform: z.string(), cpu: z.string() }),
});

/** One request and its answer, recorded without a network when the image was made. */
export type Golden = z.output<typeof golden>;

/** @throws Error when the text is no golden record */
export function parseGolden(text: string): Golden {
  return golden.parse(JSON.parse(text));
}

export function formatGolden(record: Golden): string {
  return `${JSON.stringify(record, null, 1)}\n`;
}

/** Hash of an answer's bytes, as records have it. */
export function answerDigest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** What makes an answer short and the same each time, wherever a task takes it. */
const STEADY = { do_sample: false, max_new_tokens: 16, seed: 0 };

/**
 * A request whose answer is the same each time.
 * @param example a request that the model answers, as its server names it in /status
 */
export function goldenRequest(id: TaskId, example: Record<string, unknown>): Record<string, unknown> {
  const { params } = requestSchema(taskOf(id))['properties'] as { params?: { properties?: object } };
  const known = new Set(Object.keys(params?.properties ?? {}));
  const steady = Object.fromEntries(Object.entries(STEADY).filter(([name]) => known.has(name)));
  return { ...example, params: { ...(example['params'] as object | undefined), ...steady } };
}
