import { z } from 'zod';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { EngineId } from '../../runtime/core/spec.js';
import { TASK_IDS, type TaskId } from '../../runtime/core/task-ids.js';
import { hasLoader } from '../../runtime/engines/index.js';
import { openApiOf } from '../../runtime/boot/openapi.js';
import { outputSchema, requestSchema } from '../../runtime/tasks/json-schema.js';
import { readBody } from '../../runtime/tasks/body.js';
import { taskOf, TASKS } from '../../runtime/tasks/registry.js';

/** One for all: it compiles the schema of OpenAPI once. */
const validator = new Validator();

test('the registry holds the 34 tasks', () => {
  expect(TASK_IDS).toHaveLength(34);
  expect(Object.keys(TASKS).toSorted()).toEqual([...TASK_IDS].toSorted());
});

describe.each(TASK_IDS.map((id) => [id] as const))('%s', (id: TaskId) => {
  const task = taskOf(id);

  test('its example is a request that it takes', () => {
    expect(readBody(id, task, task.example)).toMatchObject({ stream: false });
    expect(readBody(id, task, { ...task.example, stream: true }).stream).toBe(task.streams);
  });

  test('an unknown parameter is refused by name', () => {
    expect(() => readBody(id, task, { ...task.example, params: { no_such_parameter: 1 } })).toThrow(
      `params.no_such_parameter: unknown parameter for ${id}`,
    );
  });

  test.each([{}, { foo: 1 }, { input: {} }, { params: {} }])('%j is no request', (body) => {
    // An image of anything needs nothing said.
    if (task.modality === 'none') expect(readBody(id, task, body).input).toEqual({ params: {} });
    else expect(() => readBody(id, task, body)).toThrow(/needs|is required/);
  });

  test('its schemas become JSON Schema', () => {
    expect(requestSchema(task)).toMatchObject({ type: 'object', properties: { params: { type: 'object' } } });
    // A union has no type of its own.
    expect(Object.keys(outputSchema(task))).toContainEqual(expect.stringMatching(/^(type|anyOf)$/));
  });

  test('its published schema takes its example, and wants no more than the server', () => {
    const schema = z.fromJSONSchema(requestSchema(task));
    expect(schema.safeParse(task.example).error).toBeUndefined();
    expect(schema.safeParse({ ...task.example, params: { no_such_parameter: 1 } }).success).toBe(false);
    expect(requestSchema(task)['required'] ?? []).not.toContain('params');
  });

  test('its model describes itself in valid OpenAPI 3.1', async () => {
    const document = openApiOf({ id: 'org/name', task: id, commit: 'c' }, '1.0.0');
    const { valid, errors } = await validator.validate(structuredClone(document) as Record<string, unknown>);
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
  });

  test('every engine that serves it has its head, and names graphs and files', () => {
    for (const [engine, binding] of Object.entries(task.engines)) {
      expect(hasLoader(engine as EngineId, binding.head)).toBe(true);
      expect(binding).toMatchObject({
        head: expect.any(String),
        graphs: expect.any(Array),
        files: expect.any(Array),
      });
    }
    expect(Object.keys(task.engines).length).toBeGreaterThan(0);
  });
});
