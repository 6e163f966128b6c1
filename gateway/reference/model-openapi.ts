import type { ServedModel } from '../../runtime/dialects/host.js';
import { dialectPaths } from '../../runtime/dialects/openapi.js';
import { KEY_SCHEME, runOperation } from '../../runtime/boot/openapi.js';
import { taskOf } from '../../runtime/tasks/registry.js';

/** OpenAPI 3.1 document of one model below its address: what its container has, where the gateway answers it. */
export function modelOpenApi({ modelId, task }: ServedModel, version: string): object {
  const { '/': _, ...dialects } = dialectPaths(task);
  return {
    openapi: '3.1.0',
    info: {
      title: modelId,
      version,
      description: `${taskOf(task).summary} Model ${modelId}, task ${task}.`,
    },
    servers: [{ url: '.' }],
    paths: { '/': { post: runOperation(task, taskOf(task)) }, ...dialects },
    components: {
      schemas: { Error: ERROR },
      securitySchemes: { key: KEY_SCHEME },
    },
    security: [{ key: [] }],
  };
}

const ERROR = {
  type: 'object',
  required: ['error', 'output'],
  properties: { error: { type: 'string' }, output: { type: 'null' } },
};
