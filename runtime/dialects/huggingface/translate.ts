import { RunError } from '../../core/errors.js';
import type { TaskId } from '../../core/task-ids.js';
import { mediaKey } from '../../tasks/body.js';
import { TASKS } from '../../tasks/registry.js';
import { grammarParams } from '../grammar.js';
import type { HfRequest } from './read.js';

/** Bodies of POST /run, and the files that they name. */
export interface Translated {
  bodies: Record<string, unknown>[];
  /** The request was a list of inputs, and wants a list of answers. */
  isList: boolean;
  files?: ReadonlyMap<string, Uint8Array>;
}

/** Name of the one file of a request. */
const FILE = 'file';

/**
 * Converts a request to bodies of POST /run.
 * @throws RunError 400 for inputs that the task can't take
 */
export function translateRequest(task: TaskId, request: HfRequest): Translated {
  const { params, top } = splitParameters(task, request.parameters);
  if (request.file) {
    const body = { base64: FILE, ...withQuestion(request), ...top, params };
    return { bodies: [body], isList: false, files: new Map([[FILE, request.file]]) };
  }
  const isList = Array.isArray(request.inputs) && !isConversation(request.inputs);
  const inputs = isList ? (request.inputs as unknown[]) : [request.inputs];
  const bodies = inputs.map((one) => ({ ...bodyOf(task, one, request), ...top, params }));
  if (bodies.length === 0) throw new RunError('invalid_input', 'inputs: must not be empty');
  return { bodies, isList };
}

/** What the Inference API calls parameters, and POST /run has at the top. */
const TOP = ['candidate_labels', 'question', 'context'];

/** Values with which parameters change nothing. */
const NEUTRAL: Readonly<Record<string, readonly unknown[]>> = {
  watermark: [false],
  best_of: [1],
  details: [false],
  decoder_input_details: [false],
  top_n_tokens: [0],
  // Long texts are always cut, at their end.
  truncate: [true],
  truncation_direction: ['Right', 'right'],
};

function splitParameters(task: TaskId, parameters: Record<string, unknown>) {
  const params: Record<string, unknown> = { ...STANDARD[task] };
  const top: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(parameters)) {
    if (NEUTRAL[name]?.includes(value) || isEmptyList(value)) continue;
    if (TOP.includes(name)) top[name] = labelsOf(value);
    else Object.assign(params, OTHER[name]?.(value) ?? { [name]: value });
  }
  return { params, top };
}

/** Parameters that have another name or form here. */
const OTHER: Readonly<Record<string, (value: unknown) => Record<string, unknown>>> = {
  stop_sequences: (value) => ({ stop: value }),
  grammar: grammarParams,
};

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;

/** Older requests have the labels in one text. */
function labelsOf(value: unknown): unknown {
  return typeof value === 'string' ? value.split(',').map((label) => label.trim()) : value;
}

/** What the Inference API does by default, where the pipeline of the library does not. */
const STANDARD: Readonly<Partial<Record<TaskId, Record<string, unknown>>>> = {
  'text-classification': { top_k: null },
  'token-classification': { aggregation_strategy: 'simple' },
  'text-generation': { return_full_text: false },
};

function withQuestion({ question }: HfRequest): Record<string, unknown> {
  return question === undefined ? {} : { question };
}

function isConversation(inputs: readonly unknown[]): boolean {
  return inputs.length > 0 && inputs.every((one) => typeof one === 'object' && one !== null && 'role' in one);
}

function bodyOf(task: TaskId, input: unknown, request: HfRequest): Record<string, unknown> {
  const { modality } = TASKS[task];
  if (modality === 'none') return {};
  if (Array.isArray(input)) return { messages: input };
  if (typeof input === 'object' && input !== null) return fromObject(input as Record<string, unknown>);
  if (typeof input !== 'string') throw new RunError('invalid_input', `inputs: is required for ${task}`);
  if (modality === 'text') return { text: input };
  if (modality === 'messages') return { messages: [{ role: 'user', content: input }] };
  return { ...mediaKey(request.image ?? input), ...withQuestion(request) };
}

/** `{question, context}`, `{question, image}`, `{image, candidateLabels}`, `{text}`, `{messages}`. */
function fromObject({ image, candidateLabels, text_inputs, ...rest }: Record<string, unknown>) {
  return {
    ...rest,
    ...(typeof image === 'string' ? mediaKey(image) : {}),
    ...(candidateLabels === undefined ? {} : { candidate_labels: labelsOf(candidateLabels) }),
    ...(text_inputs === undefined ? {} : { text: text_inputs }),
  };
}
