import { StoreError } from '../../../runtime/store/errors.js';
import { hubSource } from '../../../runtime/store/hub.js';
import type { HubOptions } from '../../../runtime/store/hub-fetch.js';
import { readWholeFile } from '../../../runtime/store/source.js';
import { type Hub, startHub } from '../../fakes/hub.js';
import { CONFIG, folderWith, modelFiles } from './folders.js';

const TOKEN = 'token-of-a-mirror';
const files = modelFiles(50_000);
const dir = folderWith(files);
let hub: Hub;

beforeEach(async () => {
  const models = {
    'org/name': {
      dir,
      pipeline_tag: 'text-classification',
      library_name: 'transformers',
      tags: ['onnx', 'license:mit'],
      revisions: ['v1'],
    },
    bare: dir,
    'org/gated': { dir, gated: 'auto' as const },
    'org/private': { dir, private: true },
  };
  hub = await startHub({ models, token: TOKEN, cdn: true, pageSize: 2 });
});
afterEach(() => hub.close());

const sourceOf = (options: Partial<HubOptions> = {}) =>
  hubSource({ endpoint: hub.url, backoffMs: 1, ...options });

async function failure(call: Promise<unknown>): Promise<StoreError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StoreError);
  expect((error as StoreError).message).not.toContain(TOKEN);
  return error as StoreError;
}

describe('info', () => {
  test('pins the revision and lists all pages with sizes and hashes', async () => {
    const info = await sourceOf().info('org/name', 'v1');
    expect(info).toMatchObject({
      id: 'org/name',
      revision: 'v1',
      commit: hub.commitOf('org/name'),
      pipelineTag: 'text-classification',
      libraryName: 'transformers',
      license: 'mit',
      gated: false,
    });
    expect(info.files).toEqual([
      { path: 'config.json', size: CONFIG.length, gitOid: expect.stringMatching(/^[0-9a-f]{40}$/) },
      { path: 'onnx/model.onnx', size: 50_000, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      { path: 'tokenizer.json', size: 17, gitOid: expect.stringMatching(/^[0-9a-f]{40}$/) },
    ]);
    expect(hub.requests.filter(({ path }) => path.includes('/tree/')).length).toBeGreaterThan(1);
  });

  test('a bare id, and a revision that defaults to main', async () => {
    expect(await sourceOf().info('bare')).toMatchObject({ id: 'bare', revision: 'main' });
  });

  test.each([
    ['org/none', 'main', 'not_found', /org\/none was not found .*spelling/],
    ['org/private', 'main', 'not_found', /HF_TOKEN/],
    ['org/name', 'v9', 'not_found', /no such revision/],
    ['../etc', 'main', 'invalid', /"\.\.\/etc" is not a model id/],
    ['a/b/c', 'main', 'invalid', /not a model id/],
  ])('%s at %s is %s', async (id, revision, kind, message) => {
    const error = await failure(sourceOf().info(id, revision));
    expect(error.kind).toBe(kind);
    expect(error.message).toMatch(message);
  });

  test('a bad id costs no request', async () => {
    await failure(sourceOf().info('../etc'));
    expect(hub.requests).toEqual([]);
  });

  test('a private model with its token', async () => {
    expect((await sourceOf({ token: TOKEN }).info('org/private')).files.length).toBe(3);
  });

  test('5xx and 429 are tried again, with what Retry-After asks', async () => {
    hub.fault({ path: '/api/models/org/name', status: 503 });
    hub.fault({ path: '/tree/', status: 429, retryAfter: '1' });
    const started = Date.now();
    expect((await sourceOf().info('org/name')).files.length).toBe(3);
    expect(Date.now() - started).toBeGreaterThanOrEqual(950);
  });

  test('a hub that stays down, limits too much, or is no hub', async () => {
    hub.fault({ path: '/api/', status: 500, times: 9 });
    expect((await failure(sourceOf({ attempts: 2 }).info('org/name'))).kind).toBe('network');
    expect(hub.requests.length).toBe(2);
  });

  test('a web page instead of an answer', async () => {
    hub.fault({ path: '/api/', html: true, times: 9 });
    const error = await failure(sourceOf().info('org/name'));
    expect(error.kind).toBe('network');
    expect(error.message).toMatch(/web page instead of data; check that HF_ENDPOINT/);
  });

  test('no connection names the address and what to do', async () => {
    await hub.close();
    const error = await failure(sourceOf({ attempts: 1 }).info('org/name'));
    expect(error.kind).toBe('network');
    expect(error.message).toMatch(new RegExp(`no connection to ${hub.url} \\(ECONNREFUSED\\).*HF_ENDPOINT`));
  });

  test('silence ends after the time for the first byte', async () => {
    hub.fault({ path: '/api/', silent: true });
    const error = await failure(sourceOf({ attempts: 1, firstByteMs: 100 }).info('org/name'));
    expect(error.message).toMatch(/no answer within 0.1 s/);
  });

  test('a token with a line break is refused before anyone sees it', async () => {
    const error = await failure(sourceOf({ token: `${TOKEN}\nx` }).info('org/name'));
    expect(error.kind).toBe('unauthorized');
    expect(hub.requests).toEqual([]);
  });
});

describe('files', () => {
  test('text, or undefined for a file that the listing lacks', async () => {
    const source = sourceOf();
    const info = await source.info('org/name');
    hub.requests.length = 0;
    expect(await source.readText(info, 'config.json')).toBe(CONFIG);
    expect(await source.readText(info, 'none.json')).toBeUndefined();
    expect(hub.requests.length).toBe(1);
  });

  test('from the middle on', async () => {
    const source = sourceOf();
    const info = await source.info('org/name');
    const graph = info.files[1]!;
    const opened = await source.open(info, graph, 49_000);
    expect(opened.offset).toBe(49_000);
    const bytes: Uint8Array[] = [];
    for await (const chunk of opened.body) bytes.push(chunk);
    expect(Buffer.concat(bytes)).toEqual(
      Buffer.from(files['onnx/model.onnx'] as Uint8Array).subarray(49_000),
    );
  });

  test('a server that ignores the range says so by its offset', async () => {
    hub.fault({ path: 'model.onnx', ignoreRange: true });
    const source = sourceOf();
    const info = await source.info('org/name');
    expect((await source.open(info, info.files[1]!, 49_000)).offset).toBe(0);
  });

  test('the token opens a gate, and stays away from the other host', async () => {
    const source = sourceOf({ token: TOKEN });
    const info = await source.info('org/gated');
    const bytes = await readWholeFile(source, info, info.files[1]!);
    expect(bytes.length).toBe(50_000);
    const seen = hub.requests.map(({ server, headers }) => [server, headers.authorization]);
    expect(seen).toContainEqual(['hub', `Bearer ${TOKEN}`]);
    expect(seen.filter(([server]) => server === 'cdn')).toEqual([['cdn', undefined]]);
  });

  test('a listing that goes on at another host does not get the token', async () => {
    const other = await startHub({ models: { 'org/name': dir } });
    const send: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      const link = response.headers.get('link')?.replace(hub.url, other.url);
      return link
        ? new Response(response.body, { headers: { ...Object.fromEntries(response.headers), link } })
        : response;
    };
    await sourceOf({ token: TOKEN, fetch: send })
      .info('org/name')
      .finally(() => other.close());
    expect(other.requests.length).toBeGreaterThan(0);
    expect(other.requests.map(({ headers }) => headers.authorization).filter(Boolean)).toEqual([]);
  });

  test.each([
    [undefined, /restricted; accept its terms at http:\S+\/org\/gated, then give a token .*HF_TOKEN/],
    ['wrong-token', /ask for access at http:\S+\/org\/gated/],
  ])('a gate with token %s names the page to visit', async (token, message) => {
    const source = sourceOf({ token });
    const info = await source.info('org/gated');
    expect(info.gated).toBe('auto');
    const error = await failure(source.readText(info, 'config.json'));
    expect([error.kind, error.message]).toEqual(['gated', expect.stringMatching(message)]);
  });

  test('a stall in the middle of a body ends', async () => {
    hub.fault({ path: 'model.onnx', stallAfter: 1000 });
    const source = sourceOf({ stallMs: 100 });
    const info = await source.info('org/name');
    const error = await failure(readWholeFile(source, info, info.files[1]!));
    expect(error.message).toMatch(/no connection to .* \(1000 bytes for 0.1 s\)/);
  });

  test('a folder plan has no hub behind it', async () => {
    const ref = { id: 'org/name', commit: 'local-0123456789ab' };
    const error = await failure(sourceOf().open(ref, { path: 'config.json', size: 1 }, 0));
    expect(error.message).toMatch(/local folder.*--bake/);
    expect(hub.requests).toEqual([]);
  });
});
