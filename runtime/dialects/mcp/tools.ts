import { createHash } from 'node:crypto';
import { outputSchema, requestSchema } from '../../tasks/json-schema.js';
import { taskOf } from '../../tasks/registry.js';
import type { DialectHost, ServedModel } from '../host.js';

type Schema = Record<string, unknown>;

/** Longest name that clients of all providers take. */
const MAX_NAME = 64;

/** A model as a tool. */
export interface Tool {
  name: string;
  model: ServedModel;
}

/** The models as tools: where there is one, its task is the name, else each has its own. Names are unique. */
export function toolsOf(host: DialectHost): Tool[] {
  const models = host.models();
  const [only] = models;
  if (models.length === 1 && only) return [{ name: only.task, model: only }];
  const names = models.map(({ modelId }) => nameOf(modelId));
  return models.map((model, i) => {
    const name = names[i]!;
    const isUnique = names.indexOf(name) === names.lastIndexOf(name) && name.length <= MAX_NAME;
    return { model, name: isUnique ? name : withDigest(name, model.modelId) };
  });
}

/** Clients take letters, digits, `_` and `-`. */
const nameOf = (modelId: string): string => modelId.replace('/', '__').replace(/[^\w-]/g, '_');

function withDigest(name: string, modelId: string): string {
  const digest = createHash('sha256').update(modelId).digest('hex').slice(0, 8);
  return `${name.slice(0, MAX_NAME - digest.length - 1)}_${digest}`;
}

/** Keys that say how an answer is sent. */
const FORM = ['stream', 'json'];

/** A tool as `tools/list` tells it: its arguments are the body of POST /run. */
export function toolDescription({ name, model }: Tool): object {
  const task = taskOf(model.task);
  return {
    name,
    title: `${task.title}: ${model.modelId}`,
    description: `${task.summary} The model is ${model.modelId} (${model.task}).${task.makes ? '' : OUTPUT}`,
    inputSchema: argumentsSchema(requestSchema(task)),
    ...(task.makes ? {} : { outputSchema: wrapped(outputSchema(task)) }),
    annotations: { readOnlyHint: true, openWorldHint: false },
  };
}

const OUTPUT = ' The answer is in `output`.';

/** Some clients refuse alternatives at the top: that a medium needs `url` or `base64` is in the description instead. */
function argumentsSchema({ properties, required, anyOf, description }: Schema): Schema {
  const own = Object.entries(properties as Schema).filter(([key]) => !FORM.includes(key));
  const either = anyOf ? 'Give the file as url or as base64.' : undefined;
  const text = [description, either].filter(Boolean).join(' ');
  return {
    type: 'object',
    properties: Object.fromEntries(own),
    ...(required ? { required } : {}),
    ...(text ? { description: text } : {}),
  };
}

/** Structured content is an object. */
const wrapped = (output: Schema): Schema => ({
  type: 'object',
  properties: { output },
  required: ['output'],
});
