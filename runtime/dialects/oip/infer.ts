import * as z from 'zod';
import { RunError } from '../../core/errors.js';
import { base64Of } from '../../core/media-output.js';
import { TASKS } from '../../tasks/registry.js';
import { readJsonBody } from '../../wire/json-body.js';
import { sendJson } from '../../wire/respond.js';
import { answerAll } from '../ask.js';
import type { DialectCall } from '../dialect.js';
import { EMBEDDING_TASKS, vectorsOf } from '../embed.js';
import { hint, readFields } from '../fields.js';
import type { ModelAnswer, ServedModel } from '../host.js';
import { mediaOf, valueOf } from '../media.js';
import { requireModel } from '../require-model.js';

/** Rows of one request. */
const MAX_ROWS = 1024;

const tensor = z.strictObject({
  name: z.string().describe('a field of POST /run, such as text, question, url or base64'),
  shape: z.array(z.int().min(1)).min(1),
  datatype: z.literal('BYTES', { error: 'can only be BYTES' }),
  data: z.array(z.unknown()),
  parameters: hint(),
});

/** POST v2/models/{id}/infer: one row of each tensor is one request. */
export const inferBody = z.strictObject({
  id: z.string().nullish(),
  inputs: z.array(tensor).min(1).max(16),
  outputs: hint(),
  parameters: z.record(z.string(), z.unknown()).nullish().describe('params of POST /run'),
});

export async function infer(call: DialectCall): Promise<void> {
  const { request, response, host } = call;
  const model = modelOf(call);
  const { json } = await readJsonBody(request, response, host.bodyOptions([model.task], true));
  const { id, inputs, parameters } = readFields(inferBody, json);
  const bodies = rowsOf(inputs).map((row) => ({ ...row, ...(parameters ? { params: parameters } : {}) }));
  await answerAll(call, { model, bodies, names: {} }, (answers) => {
    const outputs = [outputOf(model, answers)];
    const head = { model_name: model.modelId, ...(id == null ? {} : { id }) };
    sendJson(response, 200, JSON.stringify({ ...head, outputs }));
  });
}

/** The model that an address names. @throws RunError 404 */
export function modelOf({ request, host }: DialectCall): ServedModel {
  return requireModel(host, [request.params['id'] ?? []].flat().join('/'));
}

/** @throws RunError 400 for tensors that do not go together */
function rowsOf(inputs: readonly z.output<typeof tensor>[]): Record<string, unknown>[] {
  const length = inputs[0]!.shape[0]!;
  if (length > MAX_ROWS) throw new RunError('invalid_input', `inputs.0.shape: at most ${MAX_ROWS} rows`);
  for (const [i, { shape, data }] of inputs.entries()) {
    if (shape.length > 2 || (shape[1] ?? 1) !== 1 || shape[0] !== length || data.flat().length !== length)
      throw new RunError(
        'invalid_input',
        `inputs.${i}.shape: must be [${length}], with as many values in data`,
      );
  }
  return Array.from({ length }, (_, row) =>
    Object.fromEntries(inputs.map(({ name, data }) => [name, data.flat()[row]])),
  );
}

/** Vectors are numbers; texts and media are BYTES, all else is JSON in BYTES. */
function outputOf({ task }: ServedModel, answers: readonly ModelAnswer[]): object {
  if ((EMBEDDING_TASKS as readonly string[]).includes(task)) {
    const vectors = vectorsOf(answers);
    const shape = [vectors.length, vectors[0]!.length];
    return { name: 'embedding', datatype: 'FP32', shape, data: vectors.flat() };
  }
  const data = answers.map(({ output }) => textOf(output));
  return { name: 'output', datatype: 'BYTES', shape: [data.length], data };
}

function textOf(output: unknown): string {
  const medium = mediaOf(output);
  if (medium) return base64Of(medium.media);
  const value = valueOf(output);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** GET v2/models/{id}: which tensors there are. */
export function metadata(call: DialectCall): void {
  const { modelId, task } = modelOf(call);
  const isVector = (EMBEDDING_TASKS as readonly string[]).includes(task);
  const field =
    { text: 'text', messages: 'messages', none: 'seed' }[TASKS[task].modality as string] ?? 'base64';
  const body = {
    ...{ name: modelId, versions: ['1'], platform: 'slipway' },
    inputs: [{ name: field, datatype: 'BYTES', shape: [-1] }],
    outputs: [
      isVector
        ? { name: 'embedding', datatype: 'FP32', shape: [-1, -1] }
        : { name: 'output', datatype: 'BYTES', shape: [-1] },
    ],
  };
  sendJson(call.response, 200, JSON.stringify(body));
}
