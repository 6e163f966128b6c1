import type { z } from 'zod';
import { RunError } from '../core/errors.js';
import type { TaskId } from '../core/task-ids.js';
import type { AnyTask } from './define.js';

/** Keys of the request body that any task may look at. All others are ignored. */
const KEYS = [
  ...['text', 'messages', 'url', 'base64', 'question', 'context', 'candidate_labels', 'image'],
  ...['stream', 'json', 'params'],
] as const;

type Body = Partial<Record<(typeof KEYS)[number], unknown>>;

export interface RunRequest {
  /** Validated input of the task; url and base64 still in it. */
  input: Record<string, unknown>;
  /** Text as it comes; false where the task can't stream. */
  stream: boolean;
  /** Raw media instead of the envelope, already in the sense of the header that the client sent. */
  json: unknown;
}

/**
 * Turns a parsed JSON body into what the task takes: the `input` shorthand is spread, unknown keys are dropped, the
 * task's schema decides the rest. Used by the server and by the gateway, before anything is started or fetched.
 * @throws RunError 400 that names the field
 */
export function readBody(id: TaskId, task: AnyTask, json: unknown): RunRequest {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new RunError('invalid_input', 'the body must be a JSON object');
  }
  const body = knownKeys(withShorthand(task, json as Record<string, unknown>));
  const { stream, json: rawMedia } = body;
  if (stream !== undefined && stream !== null && typeof stream !== 'boolean') {
    throw new RunError('invalid_input', 'stream: must be true or false');
  }
  const parsed = task.input.safeParse(body);
  if (!parsed.success) throw new RunError('invalid_input', firstProblem(id, parsed.error));
  return {
    input: parsed.data as Record<string, unknown>,
    stream: stream === true && task.streams,
    json: rawMedia,
  };
}

function knownKeys(source: Record<string, unknown>): Body {
  return Object.fromEntries(
    KEYS.filter((key) => Object.hasOwn(source, key)).map((key) => [key, source[key]]),
  );
}

/** Explicit top-level keys win over what `input` says. */
function withShorthand(task: AnyTask, body: Record<string, unknown>): Record<string, unknown> {
  const short = Object.hasOwn(body, 'input') ? fromInput(task, body['input']) : {};
  const merged = { ...knownKeys(short), ...knownKeys(body) };
  return task.modality === 'image' ? withImageAlias(merged) : merged;
}

function fromInput(task: AnyTask, input: unknown): Record<string, unknown> {
  if (Array.isArray(input)) return { messages: input };
  if (typeof input === 'object' && input !== null) return input as Record<string, unknown>;
  if (typeof input !== 'string') return {};
  if (task.modality === 'text') return { text: input };
  if (task.modality === 'messages') return { messages: [{ role: 'user', content: input }] };
  return mediaKey(input);
}

/** `image` is another name of url and base64 for tasks that take a picture. */
function withImageAlias({ image, ...body }: Body): Body {
  if (typeof image !== 'string' || body.url !== undefined || body.base64 !== undefined) return body;
  return { ...mediaKey(image), ...body };
}

function mediaKey(value: string): Body {
  return /^https?:/i.test(value) ? { url: value } : { base64: value };
}

/** One line about the first thing that is wrong, naming the field. */
function firstProblem(id: TaskId, error: z.ZodError): string {
  const issue = deepest(error.issues[0]!);
  const field = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') {
    const place = field === '' ? '' : `${field}.`;
    return `${place}${issue.keys[0]}: unknown parameter for ${id}`;
  }
  if (issue.code === 'invalid_type' && issue.input === undefined && issue.path.length === 1) {
    return `${field}: is required for ${id} (${issue.expected})`;
  }
  return field === '' ? `${id}: ${issue.message}` : `${field}: ${issue.message}`;
}

/** Of a union that nothing fits, the branch that came furthest says most. */
function deepest(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== 'invalid_union') return issue;
  const found = issue.errors.map((issues) => issues[0]).filter((first) => first !== undefined);
  const best = found.sort((a, b) => b.path.length - a.path.length)[0];
  return best ? deepest({ ...best, path: [...issue.path, ...best.path] }) : issue;
}
