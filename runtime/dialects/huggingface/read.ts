import * as z from 'zod';
import { RunError } from '../../core/errors.js';
import type { TaskId } from '../../core/task-ids.js';
import { TASKS } from '../../tasks/registry.js';
import { isJsonType, type JsonBodyOptions, parseJsonBody, readRawBody } from '../../wire/json-body.js';
import type { DialectCall } from '../dialect.js';
import { dropNullish, readFields } from '../fields.js';
import type { ServedModel } from '../host.js';

/** A request as the clients of Hugging Face's Inference API send it. */
export interface HfRequest {
  inputs: unknown;
  /** Without nulls; those of generate(), which some clients put one level deeper, are among them. */
  parameters: Record<string, unknown>;
  stream: boolean;
  /** Beside `inputs`: clients put questions and images there for some tasks. */
  question?: string | undefined;
  image?: string | undefined;
  /** A file that was sent as it is. */
  file?: Uint8Array;
}

/** JSON bodies. Some clients put parameters beside `inputs`. */
export const hfBody = z.looseObject({
  inputs: z.unknown(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
  stream: z.boolean().nullish(),
  question: z.string().nullish(),
  image: z.string().nullish(),
  options: z.record(z.string(), z.unknown()).nullish().describe('how a call waits; changes nothing'),
  model: z.string().nullish().describe('the address says which model is asked'),
});

/** @throws RunError 400, 413 or 415 */
export async function readHfRequest(
  { request, response }: DialectCall,
  model: ServedModel,
  options: JsonBodyOptions,
): Promise<HfRequest> {
  const raw = await readRawBody(request, response, options);
  if (isFile(request.headers['content-type'], raw.bytes, model)) return fileRequest(raw.bytes);
  const { json } = await parseJsonBody(raw, response, options);
  return readHfJson(json);
}

/** @throws RunError 400 that names the field */
export function readHfJson(json: unknown): HfRequest {
  const {
    inputs,
    parameters,
    stream,
    question,
    image,
    options: _,
    model: __,
    ...beside
  } = readFields(hfBody, json);
  return {
    inputs,
    parameters: flattened(dropNullish({ ...beside, ...parameters })),
    stream: stream ?? false,
    question: question ?? undefined,
    image: image ?? undefined,
  };
}

const OPENING_BRACE = 0x7b;
const OPENING_BRACKET = 0x5b;

/** A request that is a file as it is. */
export const fileRequest = (file: Uint8Array): HfRequest => ({
  ...{ inputs: undefined, parameters: {}, stream: false, file },
});

/** Whether a body of a model's address is one of the Inference API; POST /run has no `inputs`. */
export const asksInference = (json: unknown): boolean => Object.hasOwn(Object(json) as object, 'inputs');

/** Whether a request to the task may be a file as it is. */
export const takesFiles = (task: TaskId): boolean =>
  ['image', 'audio', 'video'].includes(TASKS[task].modality);

/**
 * Whether a body is a file: Python's client sends files without a content type.
 * @throws RunError 415 for a file that the task can't take
 */
export function isFile(type: string | undefined, bytes: Buffer, { task, modelId }: ServedModel): boolean {
  if (type !== undefined && isJsonType(type)) return false;
  const takesFile = takesFiles(task);
  const first = bytes.find((byte) => byte > 0x20);
  const looksLikeJson = first === OPENING_BRACE || first === OPENING_BRACKET;
  if (type === undefined && (!takesFile || looksLikeJson)) return false;
  if (takesFile) return true;
  throw new RunError(
    'unsupported_media',
    `${modelId} does ${task}, which takes no file: send JSON with the content type application/json`,
  );
}

/** Names under which clients put arguments of generate(). */
const NESTED = ['generate_kwargs', 'generation_parameters', 'generate_parameters'];

function flattened(parameters: Record<string, unknown>): Record<string, unknown> {
  const nested = NESTED.flatMap((name) => {
    const inner = parameters[name];
    return typeof inner === 'object' && inner !== null ? [inner] : [];
  });
  const own = Object.entries(parameters).filter(([name]) => !NESTED.includes(name));
  return dropNullish(Object.assign({}, Object.fromEntries(own), ...nested) as Record<string, unknown>);
}
