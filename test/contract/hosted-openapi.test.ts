import { TASK_IDS } from '../../runtime/core/task-ids.js';
import { createHash } from 'node:crypto';
import { Validator } from '@seriousme/openapi-schema-validator';
import { toHtml } from '../../gateway/reference/html.js';
import { taskOf } from '../../runtime/tasks/registry.js';
import { closeServers, gateway, secret } from '../fakes/gateway.js';
import { DOCUMENT, misfit } from '../fakes/hosted-document.js';

afterEach(closeServers);

test('is valid OpenAPI 3.1', async () => {
  const { valid, errors } = await new Validator().validate(structuredClone(DOCUMENT));
  expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
});

describe('examples fit what they are examples of', () => {
  const operations = Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
    Object.values(methods).flatMap(({ requestBody }) =>
      Object.values(requestBody?.content ?? {}).map((content) => [path, content] as const),
    ),
  );

  test('every route that takes a body has some', () => expect(operations).toHaveLength(4));

  test.each(operations)('%s', (_path, { schema, example, examples = {} }) => {
    const values = example === undefined ? Object.values(examples).map(({ value }) => value) : [example];
    expect(values.length).toBeGreaterThan(0);
    for (const value of values) expect(misfit(schema, value)).toBeNull();
    expect(misfit(schema, { nothing: 'that any of them knows', params: { no_such: 1 } })).not.toBeNull();
    expect(misfit(schema, [])).not.toBeNull();
  });
});

test.each(TASK_IDS.map((id) => [id]))('%s has schemas of its own, and its own strict parameters', (id) => {
  const { [`${id}.request`]: request, [`${id}.output`]: output } = DOCUMENT.components.schemas;
  expect(output).toBeDefined();
  expect(misfit(request!, taskOf(id).example)).toBeNull();
  expect(misfit(request!, { ...taskOf(id).example, params: { no_such: 1 } })).not.toBeNull();
});

const get = async (path: string, init: RequestInit = {}) => fetch(new URL(path, await gateway()), init);

test('lies at /openapi.json, for everybody', async () => {
  const answer = await get('/openapi.json');
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  const served = (await answer.json()) as typeof DOCUMENT;
  expect(Object.keys(served.paths)).toEqual(Object.keys(DOCUMENT.paths));
});

test('describes routes that are there', async () => {
  const base = await gateway();
  for (const [path, methods] of Object.entries(DOCUMENT.paths)) {
    for (const method of Object.keys(methods)) {
      const url = new URL(path.replace('{id}', 'org/name').replace('{org}/{name}', 'org/name'), base);
      const answer = await fetch(url, { method: method.toUpperCase(), headers: { authorization: secret } });
      const { error } = (await answer.json()) as { error: string | { message: string } | null };
      const said = typeof error === 'string' ? error : (error?.message ?? '');
      expect(`${method} ${path}: ${answer.status} ${said}`).not.toMatch(/no such route|405|401/);
      const { responses } = methods[method]!;
      expect(Object.keys(responses)).toContain(String(answer.status));
    }
  }
});

describe('the page for people', () => {
  test('loads and runs nothing, and says every route', async () => {
    const answer = await get('/');
    const html = await answer.text();
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(html).not.toMatch(/<script|<link|<img|<iframe|\son\w+=|src=|@import|url\(/i);
    for (const path of Object.keys(DOCUMENT.paths)) expect(html).toContain(path);
    const style = /<style>(.*?)<\/style>/s.exec(html)![1]!;
    const hash = createHash('sha256').update(style).digest('base64');
    const policy = answer.headers.get('content-security-policy')!;
    expect(policy.split('; ')).toEqual(
      expect.arrayContaining(["default-src 'none'", `style-src 'sha256-${hash}'`, "frame-ancestors 'none'"]),
    );
    expect(policy).not.toMatch(/unsafe|\*/);
  });

  test('shows texts as they are', () => {
    const html = toHtml('<b>', [
      { text: '`<i>` & "x"' },
      { code: '</code><script>', language: 'sh' },
      { head: ['<u>'], rows: [['`a`']] },
    ]);
    expect(html).toContain('<h1>&lt;b&gt;</h1>');
    expect(html).toContain('<p><code>&lt;i&gt;</code> &amp; &quot;x&quot;</p>');
    expect(html).toContain('&lt;/code&gt;&lt;script&gt;');
    expect(html).toContain('<th>&lt;u&gt;</th>');
  });

  test('is there for GET alone, and nothing else is', async () => {
    expect((await get('/', { method: 'POST' })).status).toBe(405);
    expect((await get('/index.html')).status).toBe(404);
  });
});
