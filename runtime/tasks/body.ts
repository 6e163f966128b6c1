import type { z } from 'zod';
import { RunError } from '../core/errors.js';
import { DEFAULTS } from '../core/limits.js';
import type { TaskId } from '../core/task-ids.js';
import type { AnyTask } from './define.js';
import { readTokenizerRequest } from './tokenizer-request.js';
import { paramNames } from './param-names.js';

/** Keys of the request body that tasks use. All others are ignored, but names of parameters, which are refused. */
const KEYS = [
  ...['text', 'messages', 'url', 'base64', 'question', 'context', 'candidate_labels', 'image'],
  ...['stream', 'json', 'params'],
] as const;

const MAX_DEPTH = DEFAULTS.maxBodyDepth;

type Body = Partial<Record<(typeof KEYS)[number], unknown>>;

export interface RunRequest {
  /** Validated input of the task, still with url and base64. */
  input: Record<string, unknown>;
  /** True to stream text; false if the task can't. */
  stream: boolean;
  /** The body's own `json` and `stream`, which say how media are to be sent (`wantsRawMedia`). */
  asked: { json: boolean | undefined; stream: boolean };
}

/**
 * Converts a parsed JSON body to the task's input: spreads the `input` shorthand, drops unknown keys, treats null as absent,
 * and applies the task's schema. Used by server and gateway before anything is started or fetched.
 * @throws RunError 400 that names the field
 */
export function readBody(id: TaskId, task: AnyTask, json: unknown): RunRequest {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new RunError('invalid_input', 'the body must be a JSON object');
  }
  const given = json as Record<string, unknown>;
  const asksTokenizer = typeof given['tokenizer'] === 'object' && given['tokenizer'] !== null;
  if (asksTokenizer) return tokenizerRun(id, task, given);
  if (given['voices'] === true && speaks(task)) return besideTheModel({ voices: true });
  const body = knownKeys(withShorthand(task, given));
  refuseMisplaced(task, given);
  const { stream = false, json: jsonFlag } = body;
  if (typeof stream !== 'boolean') throw new RunError('invalid_input', 'stream: must be true or false');
  if (jsonFlag !== undefined && typeof jsonFlag !== 'boolean')
    throw new RunError('invalid_input', 'json: must be true or false');
  if (deeperThan(MAX_DEPTH, body)) throw tooDeep();
  const parsed = task.input.safeParse(body);
  if (!parsed.success) throw new RunError('invalid_input', firstProblem(id, body, parsed.error));
  const obstacle = stream && task.streams ? task.unstreamable?.(parsed.data) : undefined;
  if (obstacle !== undefined) throw new RunError('invalid_input', obstacle);
  return {
    input: parsed.data as Record<string, unknown>,
    stream: stream && task.streams,
    asked: { json: jsonFlag, stream },
  };
}

/** A body that asks the tokenizer, not the model. @throws RunError 400 */
function tokenizerRun(id: TaskId, task: AnyTask, given: Record<string, unknown>): RunRequest {
  if (deeperThan(MAX_DEPTH, given)) throw tooDeep();
  const tokenizer = readTokenizerRequest(id, task, given['tokenizer']);
  return besideTheModel({ tokenizer });
}

/** What is asked of the server of a model, which does not run for it. */
const besideTheModel = (input: Record<string, unknown>): RunRequest => ({
  ...{ input, stream: false, asked: { json: undefined, stream: false } },
});

const speaks = ({ engines }: AnyTask): boolean =>
  Object.values(engines).some((binding) => binding.voices !== undefined);

const tooDeep = (): RunError =>
  new RunError('invalid_input', `the body has more than ${MAX_DEPTH} levels of arrays and objects`);

/** Clients that say which language they are in mean the opposite by `json: false`. */
const PUBLISHED_CLIENTS = new Set(['javascript', 'python']);

/**
 * Whether media are to be sent as they are, not in the envelope: `json: true`, or `json: false` from the published clients
 * and of those that ask for a stream.
 * @param client value of the `lang` header
 */
export function wantsRawMedia({ asked: { json, stream } }: RunRequest, client: string | undefined): boolean {
  if (json !== false) return json === true;
  return stream || (client !== undefined && PUBLISHED_CLIENTS.has(client.toLowerCase()));
}

function knownKeys(source: Record<string, unknown>): Body {
  return Object.fromEntries(
    KEYS.filter((key) => Object.hasOwn(source, key) && source[key] !== null).map((key) => [key, source[key]]),
  );
}

/** Keys that a body itself may have. */
const OWN: ReadonlySet<string> = new Set([...KEYS, 'input']);

/**
 * Parameters beside `params`, or in the `input` shorthand, would be ignored like any other key.
 * @throws RunError 400 that names the first
 */
function refuseMisplaced(task: AnyTask, given: Record<string, unknown>): void {
  const { input } = given;
  const spread = typeof input === 'object' && input !== null && !Array.isArray(input) ? input : {};
  const strangers = Object.entries({ ...spread, ...given }).filter(
    ([name, value]) => !OWN.has(name) && value !== null,
  );
  if (strangers.length === 0) return;
  const names = paramNames(task);
  const [misplaced] = strangers.find(([name]) => names.has(name)) ?? [];
  if (misplaced === undefined) return;
  throw new RunError('invalid_input', `${misplaced}: belongs in params, {"params": {"${misplaced}": …}}`);
}

function deeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => deeperThan(levels - 1, item));
}

/** Explicit top-level keys take precedence over those in `input`. */
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

/** `image` is an alias of url and base64 for tasks that take an image. */
function withImageAlias({ image, ...body }: Body): Body {
  if (image === undefined || body.url !== undefined || body.base64 !== undefined) return body;
  if (typeof image !== 'string') throw new RunError('invalid_input', 'image: must be a URL or a data URL');
  return { ...mediaKey(image), ...body };
}

/** The key at which an image, audio or video stands: by its address, or in the body. */
export function mediaKey(value: string): { url: string } | { base64: string } {
  return /^https?:/i.test(value) ? { url: value } : { base64: value };
}

/** Describes the first problem in one line, with the field's name. */
function firstProblem(id: TaskId, body: Body, error: z.ZodError): string {
  const issue = deepest(error.issues[0]!);
  const field = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') {
    const place = field === '' ? '' : `${field}.`;
    return `${place}${issue.keys[0]}: unknown parameter for ${id}`;
  }
  if (issue.code === 'invalid_type' && issue.path.length === 1 && !Object.hasOwn(body, field)) {
    return `${field}: is required for ${id} (${issue.expected})`;
  }
  return field === '' ? `${id}: ${issue.message}` : `${field}: ${issue.message}`;
}

/** For a union without a matching branch, returns the issue of the branch that matched most. */
export function deepest(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== 'invalid_union') return issue;
  const found = issue.errors.map((issues) => issues[0]).filter((first) => first !== undefined);
  const best = found.sort((a, b) => b.path.length - a.path.length)[0];
  return best ? deepest({ ...best, path: [...issue.path, ...best.path] }) : issue;
}
