import * as z from 'zod';
import { isModelId } from '../../runtime/core/ids.js';
import { TASK_IDS, type TaskId } from '../../runtime/core/task-ids.js';
import { paramNames } from '../../runtime/tasks/param-names.js';
import { TASKS } from '../../runtime/tasks/registry.js';
import { KNOWN_PARAMS } from './known-params.js';

/** Tasks that each kind of provider serves. */
const SERVED = {
  openai: ['chat', 'image-text-to-text', 'text-generation', 'feature-extraction', 'sentence-similarity'],
  anthropic: ['chat', 'image-text-to-text'],
  slipway: TASK_IDS,
} as const satisfies Record<string, readonly TaskId[]>;

export type RemoteKind = keyof typeof SERVED;

/** Without what would get into logs or be lost: user and password, query, fragment. */
const address = z
  .url({ protocol: /^https?$/ })
  .refine((url) => !/[?#]/.test(url) && new URL(url).username === '' && new URL(url).password === '', {
    error: 'expected an address without user, password, query and fragment; the key stands in keyFile',
  })
  .transform((url) => url.replace(/\/+$/, ''));

/** Longer silences than Node's timers can wait for are none. */
const seconds = z.number().min(0.1).max(86_400);

const price = z.strictObject({
  meter: z.string().regex(/^[\w.-]{1,40}$/, 'expected a short name'),
  /** Dollars, as text so that no digit is lost. */
  perSecond: z.string().regex(/^\d+(?:\.\d+)?$/, 'expected a decimal number in quotes'),
});

const limits = z.strictObject({
  concurrent: z.int().min(1).optional(),
  perMinute: z.int().min(1).optional(),
  maxTokens: z.int().min(1).optional(),
});

/** `remote` of an entry of the catalogue. */
export const remoteField = z.strictObject({
  kind: z.enum(Object.keys(SERVED) as [RemoteKind]),
  url: address,
  /** What the provider calls the model. */
  model: z.string().min(1).max(300),
  keyFile: z.string().min(1).optional(),
  keyHeader: z.enum(['authorization', 'x-api-key', 'api-key']).optional(),
  timeout: seconds.default(600),
  parameters: z.array(z.string()).optional(),
  lengthParameter: z.enum(['max_tokens', 'max_completion_tokens']).default('max_tokens'),
  price: price.optional(),
  limits: limits.default({}),
  context: z.int().min(1).optional(),
});

/** A model that others serve. */
export interface Remote extends z.output<typeof remoteField> {
  /** Absolute, if there is one. */
  keyFile?: string | undefined;
}

/** What can't be true of a remote model of this task, if so: the field and what is wrong with it. */
export function remoteProblem(remote: Remote, task: TaskId): { field: string; fault: string } | undefined {
  const { kind, model, parameters = [] } = remote;
  const tasks: readonly TaskId[] = SERVED[kind];
  if (!tasks.includes(task)) return { field: 'task', fault: `${kind} serves ${tasks.join(', ')}` };
  if (kind === 'slipway' && !isModelId(model))
    return { field: 'remote.model', fault: 'another gateway has models called org/name' };
  const known = kind === 'slipway' ? [...paramNames(TASKS[task])] : KNOWN_PARAMS[kind];
  const stranger = parameters.find((name) => !known.includes(name));
  if (stranger === undefined) return undefined;
  return {
    field: 'remote.parameters',
    fault: `${stranger} can't be given to ${kind}; there are ${known.join(', ')}`,
  };
}
