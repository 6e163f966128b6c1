import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { taskOf } from '../../runtime/tasks/registry.js';
import { closeServers, gateway, secret } from '../fakes/gateway.js';

afterEach(closeServers);

const playground = pathToFileURL(join(import.meta.dirname, '../../dist/image/playground/'));
const html = { accept: 'text/html,*/*;q=0.8' };
const open = (more = {}) =>
  gateway({
    models: [{ modelId: 'org/name', task: 'text-classification' }],
    parts: { playground, ...more },
  });

test('a browser at the address of a model is sent to its folder, and gets the page there', async () => {
  const base = await open();
  const first = await fetch(`${base}/org/name`, { headers: html, redirect: 'manual' });
  expect([first.status, first.headers.get('location')]).toEqual([302, 'name/']);
  const page = await fetch(`${base}/org/name`, { headers: html });
  expect(page.url).toBe(`${base}/org/name/`);
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  const text = await page.text();
  for (const [, file] of text.matchAll(/(?:href|src)="(playground[^"]+)"/g))
    expect((await fetch(new URL(file!, page.url))).status).toBe(200);
});

test('the page is the same for a model that is not there: only a key tells which are', async () => {
  const base = await open();
  const [there, missing] = await Promise.all(
    ['org/name/', 'org/none/'].map((id) => fetch(`${base}/${id}`, { headers: html })),
  );
  expect([there!.status, missing!.status]).toEqual([200, 200]);
  for (const id of ['org/name', 'org/none'])
    expect((await fetch(`${base}/${id}/openapi.json`)).status).toBe(401);
  const asked = (id: string) => fetch(`${base}/${id}/openapi.json`, { headers: { authorization: secret } });
  expect((await asked('org/none')).status).toBe(404);
  const document = (await (await asked('org/name')).json()) as {
    info: { title: string };
    paths: Record<string, { post?: { requestBody: { content: Record<string, { example: object }> } } }>;
  };
  expect(document.info.title).toBe('org/name');
  expect(document.paths['/']!.post!.requestBody.content['application/json']!.example).toEqual(
    taskOf('text-classification').example,
  );
  expect(Object.keys(document.paths)).toContain('/mcp');
});

test.each(['list/models', 'list/tasks', 'openai/v1'])('%s is no model', async (path) => {
  const answer = await fetch(`${await open()}/${path}`, { headers: html, redirect: 'manual' });
  expect(answer.status).not.toBe(302);
  expect(answer.headers.get('content-type')).toMatch(/json/);
});

test('whoever is no browser, and a gateway without pages, are as before', async () => {
  expect((await fetch(`${await open()}/org/name`)).status).toBe(401);
  const headers = { ...html, authorization: secret };
  expect((await fetch(`${await open({ playground: undefined })}/org/name`, { headers })).status).toBe(405);
});
