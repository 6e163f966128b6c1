import * as z from 'zod';
import type { TaskId } from '../core/task-ids.js';
import type { Dialect, DialectRoute } from './dialect.js';
import { DIALECTS, routesFor } from './registry.js';

type Schema = Record<string, unknown>;

/** OpenAPI paths of the dialects' routes that a model of this task has. */
export function dialectPaths(task: TaskId): Record<string, Schema> {
  const paths: Record<string, Schema> = {};
  for (const dialect of DIALECTS)
    for (const route of routesFor(dialect, task)) {
      const { path, parameters } = openApiPath(route.path);
      paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(dialect, route, parameters) };
    }
  return paths;
}

/** Express writes `:name` and `*name` where OpenAPI writes `{name}`. */
function openApiPath(pattern: string): { path: string; parameters: Schema[] } {
  const names = Array.from(pattern.matchAll(/[:*](\w+)/g), ([, name]) => name!);
  const schema = { type: 'string' };
  return {
    path: pattern.replace(/[:*](\w+)/g, '{$1}'),
    parameters: names.map((name) => ({ name, in: 'path', required: true, schema })),
  };
}

function operation({ name, title }: Dialect, route: DialectRoute, parameters: Schema[]): Schema {
  const { method, path, summary, body, open } = route;
  return {
    summary: `${summary} (${title})`,
    operationId: `${name}_${method.toLowerCase()}${path.replace(/\W+/g, '_')}`,
    tags: [title],
    ...(open ? { security: [] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: { required: true, content: bodyContent(body) } } : {}),
    responses: { default: { description: `the answer, or the error, in the shape of ${title}` } },
  };
}

function bodyContent(body: z.ZodType): Schema {
  const { $schema: _, ...schema } = z.toJSONSchema(body, {
    ...{ target: 'draft-2020-12', io: 'input', unrepresentable: 'any' },
  });
  return { 'application/json': { schema } };
}
