import * as z from 'zod';
import { RunError } from '../../core/errors.js';
import { dataUrlOf } from '../../core/media-output.js';
import { readJsonBody } from '../../wire/json-body.js';
import { sendJson } from '../../wire/respond.js';
import { answerAll } from '../ask.js';
import type { DialectCall } from '../dialect.js';
import { readFields } from '../fields.js';
import type { ModelAnswer, ServedModel } from '../host.js';
import { mediaOf, valueOf } from '../media.js';
import { hfAnswer } from './answers.js';
import { type HfRequest, readHfJson } from './read.js';
import { NAMES } from './run.js';
import { translateRequest } from './translate.js';

/** Inputs of one request. */
const MAX_INSTANCES = 1024;

export const vertexBody = z.strictObject({
  instances: z
    .array(z.unknown())
    .min(1)
    .max(MAX_INSTANCES)
    .describe('inputs, or objects with inputs and parameters'),
  parameters: z.record(z.string(), z.unknown()).nullish().describe('of all instances'),
});

/** POST vertex, where Vertex AI asks: each instance is a request as the Inference API has it. */
export async function predict(call: DialectCall): Promise<void> {
  const { request, response, host } = call;
  const [model] = host.models();
  const { json } = await readJsonBody(request, response, host.bodyOptions([model!.task], true));
  const { instances, parameters } = readFields(vertexBody, json);
  const asked = instances.map((instance, i) =>
    translateRequest(model!.task, requestOf(instance, { parameters, at: `instances.${i}` })),
  );
  const bodies = asked.flatMap((one) => one.bodies);
  await answerAll(call, { model: model!, bodies, names: NAMES }, (all) => {
    let at = 0;
    const predictions = asked.map(({ bodies: own, isList }) => {
      const answers = all.slice(at, (at += own.length)).map((answer) => shaped(model!, answer));
      return isList ? answers : answers[0];
    });
    sendJson(response, 200, JSON.stringify({ predictions }));
  });
}

/** @throws RunError 400 that names the instance */
function requestOf(
  instance: unknown,
  { parameters, at }: { parameters: Record<string, unknown> | null | undefined; at: string },
): HfRequest {
  const isRequest = typeof instance === 'object' && instance !== null && 'inputs' in instance;
  const { parameters: own, ...rest } = isRequest
    ? (instance as Record<string, unknown>)
    : { inputs: instance };
  const given = readHfJson({ ...rest, parameters: { ...parameters, ...(own as object | undefined) } });
  if (given.stream) throw new RunError('invalid_input', `${at}.stream: predictions come as a whole`);
  return given;
}

function shaped({ task }: ServedModel, { output }: ModelAnswer): unknown {
  const medium = mediaOf(output);
  return medium ? dataUrlOf(medium) : hfAnswer(task, valueOf(output), false);
}
