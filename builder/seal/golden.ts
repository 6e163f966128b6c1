import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { requestSchema } from '../../runtime/tasks/json-schema.js';
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
    /** JSON answers only. */
    body: z.unknown().optional(),
    /** All other answers. */
    base64: z.string().optional(),
  }),
  /** Hash of the answer's bytes. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  recordedOn: z.object({ platform: z.string(), cpu: z.string() }),
});

/** A request and its answer, recorded without a network when the image was sealed. */
export type Golden = z.output<typeof golden>;

/** @throws Error when the text is no golden record */
export function parseGolden(text: string): Golden {
  return golden.parse(JSON.parse(text));
}

export function formatGolden(record: Golden): string {
  return `${JSON.stringify(record, null, 1)}\n`;
}

/** Hash of an answer's bytes, as in the record. */
export function answerDigest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Parameters that make answers short and deterministic, where a task accepts them. */
const DETERMINISTIC = { do_sample: false, max_new_tokens: 16, seed: 0 };

/**
 * A request with a deterministic answer.
 * @param example the model's example request, from its server's /status
 */
export function goldenRequest(id: TaskId, example: Record<string, unknown>): Record<string, unknown> {
  const task = taskOf(id);
  // Models that generate audio take different parameters: those that they need are in their examples.
  if ('speech' in task.engines) return example;
  const { params } = requestSchema(task)['properties'] as { params?: { properties?: object } };
  const known = new Set(Object.keys(params?.properties ?? {}));
  const steady = Object.fromEntries(Object.entries(DETERMINISTIC).filter(([name]) => known.has(name)));
  return { ...example, params: { ...(example['params'] as object | undefined), ...steady } };
}
