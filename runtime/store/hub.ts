import { listFiles, type ListFileEntry, listModels, modelInfo } from '@huggingface/hub';
import { isModelId } from '../core/ids.js';
import type { ModelInfo, RepoFile } from '../core/spec.js';
import { StoreError } from './errors.js';
import { hubAddress } from './hub-address.js';
import { hubFetch, type HubOptions, unreachableEndpoint } from './hub-fetch.js';
import { openFile, readRange } from './hub-files.js';
import { isSafePath } from './paths.js';
import { withRetries } from './retry.js';
import { type ModelSource, readWholeFile } from './source.js';

/** Largest file that is read into memory as text. */
const MAX_TEXT_BYTES = 64 * 2 ** 20;

/** Longest time of one API request. */
const API_TIMEOUT_MS = 120_000;

/** Longest time of a search, which only a hint waits for. */
const SEARCH_TIMEOUT_MS = 10_000;

/** The Hugging Face hub, or a mirror with the same API. */
export function hubSource(options: HubOptions): ModelSource {
  const { url: endpoint, authorization } = hubAddress(options.endpoint);
  const resolved = { ...options, endpoint, authorization };
  const retries = { attempts: options.attempts ?? 4, baseMs: options.backoffMs ?? 500 };

  const open: ModelSource['open'] = (ref, file, offset, signal) =>
    openFile(resolved, { ref, file, signal }, offset);

  return {
    open,
    read: (ref, file, range, signal) =>
      withRetries(() => readRange(resolved, { ref, file, signal }, range), { ...retries, signal }),
    async info(id, revision = 'main') {
      checkId(id);
      return withRetries(() => describeModel(resolved, id, revision), retries);
    },
    conversions: (id) => withHubErrors(endpoint, () => findConversions(resolved, id)),
    async readText(info, path) {
      const file = info.files.find((candidate) => candidate.path === path);
      if (!file) return undefined;
      if (file.size > MAX_TEXT_BYTES) throw new StoreError('invalid', `${path} of ${info.id} is too large`);
      const bytes = await withRetries(() => readWholeFile({ open }, info, file), retries);
      return bytes.toString('utf8');
    },
  };
}

function checkId(id: string): void {
  if (isModelId(id)) return;
  throw new StoreError('invalid', `"${id.slice(0, 200)}" is not a model id`, {
    remedy: 'write it as on its page, e.g. org/name',
  });
}

async function describeModel(options: HubOptions, id: string, revision: string): Promise<ModelInfo> {
  const send = hubFetch(options, id);
  const fetch: typeof send = (input, init) =>
    send(input, { ...init, signal: AbortSignal.timeout(API_TIMEOUT_MS) });
  const hubUrl = options.endpoint;
  const found = await withHubErrors(hubUrl, () =>
    modelInfo({ name: id, revision, hubUrl, fetch, additionalFields: ['sha', 'tags', 'library_name'] }),
  );
  if (!/^[\w-]{7,64}$/.test(found.sha ?? '') || !isModelId(found.name ?? '')) throw unexpectedAnswer(hubUrl);
  const files = await withHubErrors(hubUrl, () =>
    collectFiles(
      listFiles({
        repo: { type: 'model', name: found.name },
        revision: found.sha,
        recursive: true,
        hubUrl,
        fetch,
      }),
    ),
  );
  const tags = Array.isArray(found.tags) ? found.tags.filter((tag) => typeof tag === 'string') : [];
  return {
    id: found.name,
    revision,
    commit: found.sha,
    pipelineTag: found.task,
    libraryName: found.library_name,
    tags,
    license: tags.find((tag) => tag.startsWith('license:'))?.slice('license:'.length),
    gated: found.gated === 'auto' || found.gated === 'manual' ? found.gated : false,
    files,
  };
}

const MOST_CONVERSIONS = 3;

async function findConversions(options: HubOptions, id: string): Promise<string[]> {
  const search = { tags: [`base_model:${id}`, 'onnx'] };
  const send = hubFetch(options, id);
  const fetch: typeof send = (input, init) =>
    send(input, { ...init, signal: AbortSignal.timeout(SEARCH_TIMEOUT_MS) });
  const found = listModels({
    search,
    sort: 'downloads',
    limit: MOST_CONVERSIONS,
    hubUrl: options.endpoint,
    fetch,
  });
  const names: string[] = [];
  for await (const { name } of found) if (isModelId(name) && name !== id) names.push(name);
  return names;
}

async function collectFiles(entries: AsyncIterable<ListFileEntry>): Promise<RepoFile[]> {
  const files: RepoFile[] = [];
  for await (const { type, path, size, oid, lfs } of entries) {
    // Files with unsafe paths are ignored.
    if (type !== 'file' || !isSafePath(path)) continue;
    files.push(
      lfs ? { path, size: lfs.size, sha256: lfs.oid } : { path, size, ...(oid ? { gitOid: oid } : {}) },
    );
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Converts errors of the hub library: a broken connection, or an answer that it could not parse. */
async function withHubErrors<T>(endpoint: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof StoreError) throw error;
    const broken = ['terminated', 'TimeoutError', 'fetch failed'].some((sign) =>
      String(error).includes(sign),
    );
    throw broken ? unreachableEndpoint(endpoint, error) : unexpectedAnswer(endpoint, error);
  }
}

function unexpectedAnswer(endpoint: string, cause?: unknown): StoreError {
  return new StoreError('invalid', `${endpoint} does not answer as a hub does`, {
    remedy: 'check HF_ENDPOINT',
    cause,
  });
}
