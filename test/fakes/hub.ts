import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Fault, type FaultList, faultList, sendFaulty } from './hub/faults.js';
import { type Sending, sendBody } from './hub/send-body.js';
import { type HubFile, type HubModel, readRepository, type Repository } from './hub/repository.js';

export type { Fault } from './hub/faults.js';
export type { HubModel } from './hub/repository.js';

export interface HubRequest {
  /** Which of the two servers was asked. */
  server: 'hub' | 'cdn';
  method: string;
  /** With the query. */
  path: string;
  headers: IncomingMessage['headers'];
}

export interface HubOptions {
  /** Folder of each model by id, or the folder with more about it. */
  models: Record<string, string | HubModel>;
  /** The one token that opens gated and private models. */
  token?: string;
  /** Redirect large files to a second server, as the real hub does. */
  cdn?: boolean;
  /** Entries of one page of a listing; 1000. */
  pageSize?: number;
  /** Address to listen on; 127.0.0.1. */
  host?: string;
  port?: number;
  /** How bodies of files are sent. */
  sending?: Sending;
}

export interface Hub {
  url: string;
  port: number;
  /** Every request in order. Empty it with `requests.length = 0`. */
  requests: HubRequest[];
  /** Bytes of files that it was asked for and gave. */
  sentBytes(): number;
  /** Adds a fault; those added first are tried first. */
  fault(fault: Fault): void;
  /** Forgets the faults that have not struck yet. */
  heal(): void;
  commitOf(id: string): string;
  close(): Promise<void>;
}

interface State {
  options: HubOptions;
  repositories: Map<string, Repository>;
  faults: FaultList;
  requests: HubRequest[];
  sentBytes: number;
  cdnUrl?: string;
}

/** A hub on a socket of its own: listings, revisions, files with ranges, gates, redirects and faults. */
export async function startHub(options: HubOptions): Promise<Hub> {
  const entries = Object.entries(options.models).map(([id, model]) => {
    return [id, readRepository(typeof model === 'string' ? { dir: model } : model)] as const;
  });
  const state: State = {
    options,
    repositories: new Map(entries),
    faults: faultList(),
    requests: [],
    sentBytes: 0,
  };
  const host = options.host ?? '127.0.0.1';
  const cdn = options.cdn ? await listen(logged(state, 'cdn', serveFile(state)), host, 0) : undefined;
  if (cdn) state.cdnUrl = urlOf(cdn, host);
  const hub = await listen(logged(state, 'hub', route(state)), host, options.port ?? 0);
  return {
    url: urlOf(hub, host),
    port: (hub.address() as AddressInfo).port,
    requests: state.requests,
    sentBytes: () => state.sentBytes,
    fault: state.faults.add,
    heal: state.faults.clear,
    commitOf: (id) => state.repositories.get(id)!.commit,
    close: async () => void (await Promise.all([stop(hub), cdn && stop(cdn)])),
  };
}

function listen(listener: RequestListener, host: string, port: number): Promise<Server> {
  const server = createServer(listener);
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve(server));
  });
}

function urlOf(server: Server, host: string): string {
  return `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${(server.address() as AddressInfo).port}`;
}

function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

function logged(state: State, server: HubRequest['server'], next: RequestListener): RequestListener {
  return (request, response) => {
    const { method = '', url: path = '', headers } = request;
    state.requests.push({ server, method, path, headers });
    next(request, response);
  };
}

/** The paths of the real hub. */
const INFO = /^\/api\/models\/([^/]+(?:\/[^/]+)??)(?:\/revision\/([^/]+))?$/;
const TREE = /^\/api\/models\/([^/]+(?:\/[^/]+)?)\/tree\/([^/]+)(?:\/(.*))?$/;
const FILE = /^\/([^/]+(?:\/[^/]+)?)\/resolve\/([^/]+)\/(.+)$/;

function route(state: State): RequestListener {
  const file = serveFile(state);
  return (request, response) => {
    const url = new URL(request.url!, 'http://hub');
    const fault = url.pathname.startsWith('/api/') ? state.faults.take(request.url!) : undefined;
    if (fault) return sendFaulty({ fault, response, body: Buffer.from('[]'), start: 0, sending: {} });
    if (url.pathname === '/api/models') return sendModels(state, url, response);
    const tree = TREE.exec(url.pathname);
    if (tree)
      return withModel(state, { request, response, match: tree }, (repository) =>
        sendTree(state, { repository, url, response, under: tree[3] }),
      );
    const info = INFO.exec(url.pathname);
    if (info)
      return withModel(state, { request, response, match: info }, (repository) =>
        sendInfo(response, info[1]!, repository),
      );
    return file(request, response);
  };
}

/** Public models that have all tags which the filter names. */
function sendModels({ repositories }: State, url: URL, response: ServerResponse): void {
  const wanted = url.searchParams.getAll('filter');
  const found = [...repositories].filter(
    ([, { about }]) => !about.private && wanted.every((tag) => about.tags?.includes(tag)),
  );
  const listed = found.map(([id]) => ({
    _id: id,
    id,
    private: false,
    gated: false,
    likes: 0,
    downloads: 0,
    lastModified: '2026-01-01',
  }));
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(listed));
}

interface Matched {
  request: IncomingMessage;
  response: ServerResponse;
  match: RegExpExecArray;
}

function withModel(state: State, matched: Matched, use: (repository: Repository) => void): void {
  const { request, response, match } = matched;
  const [, id, revision = 'main'] = match.map((part) => part && decodeURIComponent(part));
  const repository = state.repositories.get(id!);
  if (!repository || (repository.about.private && !isTrusted(state, request)))
    return fail(response, 401, 'RepoNotFound', 'Repository not found');
  const known = ['main', 'HEAD', repository.commit, ...(repository.about.revisions ?? [])];
  if (!known.includes(revision))
    return fail(response, 404, 'RevisionNotFound', `Invalid rev id: ${revision}`);
  use(repository);
}

function isTrusted({ options }: State, request: IncomingMessage): boolean {
  return options.token !== undefined && request.headers.authorization === `Bearer ${options.token}`;
}

function fail(response: ServerResponse, status: number, code: string, message: string): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'x-error-code': code,
    'x-error-message': message,
  });
  response.end(JSON.stringify({ error: message }));
}

function sendJson(response: ServerResponse, value: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', ...headers });
  response.end(JSON.stringify(value));
}

function sendInfo(response: ServerResponse, id: string, { about, commit, files }: Repository): void {
  sendJson(response, {
    _id: '0'.repeat(24),
    id: decodeURIComponent(id),
    sha: commit,
    private: about.private ?? false,
    gated: about.gated ?? false,
    downloads: 0,
    likes: 0,
    lastModified: '2026-01-01T00:00:00.000Z',
    pipeline_tag: about.pipeline_tag,
    library_name: about.library_name,
    tags: about.tags ?? [],
    siblings: files.map(({ path }) => ({ rfilename: path })),
  });
}

interface TreeRequest {
  repository: Repository;
  url: URL;
  response: ServerResponse;
  under: string | undefined;
}

function sendTree(state: State, { repository, url, response, under }: TreeRequest): void {
  const prefix = under ? `${decodeURIComponent(under)}/` : '';
  const recursive = url.searchParams.get('recursive') === 'true';
  const all = repository.entries.filter(({ path }) => {
    return path.startsWith(prefix) && (recursive || !path.slice(prefix.length).includes('/'));
  });
  const from = Number(url.searchParams.get('cursor') ?? 0);
  const to = from + (state.options.pageSize ?? 1000);
  if (to >= all.length) return sendJson(response, all.slice(from));
  const next = new URL(url.pathname + url.search, `http://${response.req.headers.host}`);
  next.searchParams.set('cursor', String(to));
  sendJson(response, all.slice(from, to), { link: `<${next}>; rel="next"` });
}

function serveFile(state: State): RequestListener {
  return (request, response) => {
    const match = FILE.exec(new URL(request.url!, 'http://hub').pathname);
    if (!match) return fail(response, 404, 'EntryNotFound', 'Not found');
    const onHub = !request.headers.host!.endsWith(`:${new URL(state.cdnUrl ?? 'http://none:0').port}`);
    withModel(state, { request, response, match }, (repository) => {
      if (repository.about.gated && onHub && !isTrusted(state, request))
        return fail(response, request.headers.authorization ? 403 : 401, 'GatedRepo', 'Access is restricted');
      const path = decodeURIComponent(match[3]!);
      const file = repository.files.find((candidate) => candidate.path === path);
      if (!file) return fail(response, 404, 'EntryNotFound', 'Entry not found');
      if (state.cdnUrl && onHub && file.lfs)
        return void response.writeHead(302, { location: state.cdnUrl + request.url }).end();
      sendContent(state, { request, response, file, commit: repository.commit });
    });
  };
}

interface ContentRequest {
  request: IncomingMessage;
  response: ServerResponse;
  file: HubFile;
  commit: string;
}

function sendContent(state: State, { request, response, file, commit }: ContentRequest): void {
  const fault = request.method === 'GET' ? state.faults.take(request.url!) : undefined;
  const asked = fault?.ignoreRange ? undefined : /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
  const start = Number(asked?.[1] ?? 0) + (asked ? (fault?.shiftBy ?? 0) : 0);
  const end = Math.min(Number(asked?.[2] || file.size - 1), file.size - 1);
  if (asked && start > end)
    return void response.writeHead(416, { 'content-range': `bytes */${file.size}` }).end();
  response.setHeader('etag', `"${file.lfs?.oid ?? file.oid}"`);
  response.setHeader('x-repo-commit', commit);
  response.setHeader('accept-ranges', 'bytes');
  const body = file.read(start, end + 1);
  if (request.method === 'GET') state.sentBytes += body.length;
  const sending = state.options.sending ?? {};
  if (fault) return sendFaulty({ fault, response, body, start, sending });
  if (asked) response.setHeader('content-range', `bytes ${start}-${end}/${file.size}`);
  const type = file.path.endsWith('.json') ? 'application/json' : 'application/octet-stream';
  response.writeHead(asked ? 206 : 200, { 'content-type': type, 'content-length': body.length });
  if (request.method === 'HEAD') return void response.end();
  void sendBody(response, body, sending).then(() => response.end());
}
