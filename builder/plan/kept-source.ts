import { readFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { isModelId } from '../../runtime/core/ids.js';
import type { ModelInfo, RepoFile } from '../../runtime/core/spec.js';
import { expectedDigest, startDigest } from '../../runtime/store/digest.js';
import { StoreError } from '../../runtime/store/errors.js';
import { makeFolder } from '../../runtime/store/make-folder.js';
import { OWN_PREFIX } from '../../runtime/store/paths.js';
import { replaceFile } from '../../runtime/store/replace-file.js';
import { type ByteRange, type ModelSource, readBytes, type RepoRef } from '../../runtime/store/source.js';
import { repoFile } from '../../runtime/store/spec-file.js';
import { cacheSource } from './from-cache.js';

export interface KeptOptions {
  /** The hub. @param patient false for one short try, because a cached copy exists */
  hub(patient: boolean): ModelSource;
  /** Cache folder; files read for plans are stored beside the models. */
  cache: string;
  /** Never connect to the hub. */
  offline: boolean;
  /** Called when the cache is used instead of the hub. */
  note(line: string): void;
}

/** Commits, whose content never changes. */
const COMMIT = /^[0-9a-f]{40}$/;

/**
 * A hub with a cache of listings and small files, for plans without a connection. Listings are at
 * `<cache>/plans/<org>/<name>/<revision>.json`, files in `<commit>/` beside them. Without a cached listing, the model's own
 * folder in the cache is used.
 */
export function keptSource(options: KeptOptions): ModelSource {
  const { hub, cache, offline, note } = options;
  const source = offline ? OFFLINE : hub(true);
  /** Folders used instead of the hub, by commit. */
  const folders = new Map<string, ModelSource>();

  async function standIn(id: string, revision: string, error: StoreError): Promise<ModelInfo> {
    const kept = await readListing(cache, id, revision);
    const found = kept ? undefined : await cacheSource(path.join(cache, 'models'), { id, revision });
    const why = offline ? 'HF_HUB_OFFLINE is set' : error.message;
    if (!kept && !found)
      throw new StoreError('network', `${why}; nothing of ${id} is in the cache either`, {
        remedy: '--from takes a local folder',
        cause: error,
      });
    const commit = kept?.commit ?? found!.commit;
    const how = kept ? 'as it was the last time' : 'as far as it was fetched';
    note(`${why}; ${id} is taken at commit ${commit} from the cache, ${how}`);
    if (kept) return kept;
    folders.set(commit, found!.source);
    return found!.source.info(id, revision);
  }

  return {
    async info(id, revision = 'main') {
      const kept = await readListing(cache, id, revision);
      if (kept && COMMIT.test(revision)) return kept;
      try {
        if (offline) throw new StoreError('network', 'HF_HUB_OFFLINE is set');
        const info = await hub(kept === undefined).info(id, revision);
        await keepListing(cache, id, info);
        return info;
      } catch (error) {
        if (!(error instanceof StoreError) || error.kind !== 'network') throw error;
        return standIn(id, revision, error);
      }
    },
    conversions: async (id) => (offline ? [] : ((await hub(false).conversions?.(id)) ?? [])),
    async readText(info, file) {
      const folder = folders.get(info.commit);
      if (folder) return folder.readText(info, file);
      const listed = info.files.find((one) => one.path === file);
      return listed && (await keptBytes(listed, { ref: info, cache, source })).toString('utf8');
    },
    async open(ref, file, offset, signal) {
      const folder = folders.get(ref.commit);
      if (folder) return folder.open(ref, file, offset, signal);
      return { offset: 0, body: bodyOf(await keptBytes(file, { ref, cache, source })) };
    },
    async read(ref, file, range, signal) {
      const folder = folders.get(ref.commit);
      if (folder) return folder.read(ref, file, range, signal);
      return keptPart({ file, range, signal }, { ref, cache, source });
    },
  };
}

const offlineError = async (): Promise<never> => {
  throw new StoreError('not_found', 'HF_HUB_OFFLINE is set, and a file for the plan is not in the cache', {
    remedy: 'unset it once, so that the plan can be made',
  });
};

const OFFLINE: Pick<ModelSource, 'open' | 'read'> = { open: offlineError, read: offlineError };

async function* bodyOf(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

const listing = z.object({
  id: z.string().refine(isModelId),
  revision: z.string(),
  commit: z.string().regex(/^[\w-]{7,64}$/),
  pipelineTag: z.string().optional(),
  libraryName: z.string().optional(),
  tags: z.array(z.string()),
  license: z.string().optional(),
  gated: z.union([z.literal(false), z.enum(['auto', 'manual'])]),
  files: z.array(repoFile),
}) satisfies z.ZodType<ModelInfo>;

const folderOf = (cache: string, id: string): string => path.join(cache, 'plans', ...id.split('/'));

const listingFile = (cache: string, id: string, revision: string): string =>
  path.join(folderOf(cache, id), `${encodeURIComponent(revision).slice(0, 200)}.json`);

/** Undefined if there is none or it can't be read. */
async function readListing(cache: string, id: string, revision: string): Promise<ModelInfo | undefined> {
  if (!isModelId(id)) return undefined;
  const text = await readFile(listingFile(cache, id, revision), 'utf8').catch(() => '{}');
  const parsed = listing.safeParse(parsedJson(text));
  return parsed.success ? { ...parsed.data, revision } : undefined;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Damaged, for example by a full disk: treated as missing.
    return undefined;
  }
}

/** Stored under the requested id, which may be a former name of the repository, by revision and by commit. */
async function keepListing(cache: string, id: string, info: ModelInfo): Promise<void> {
  const text = `${JSON.stringify(info)}\n`;
  await keep(listingFile(cache, id, info.revision), text);
  await keep(listingFile(cache, info.id, info.commit), text);
}

interface Origin {
  ref: RepoRef;
  cache: string;
  source: Pick<ModelSource, 'open' | 'read'>;
}

/** Content of a small file, verified against the hash of the listing. */
async function keptBytes(file: RepoFile, { ref, cache, source }: Origin): Promise<Buffer> {
  const place = path.join(folderOf(cache, ref.id), ref.commit, ...file.path.split('/'));
  const kept = await readFile(place).catch(() => undefined);
  if (kept && isWhole(kept, file)) return kept;
  const bytes = await readBytes(source, ref, file);
  await keep(place, bytes);
  return bytes;
}

interface Part {
  file: RepoFile;
  range: ByteRange;
  signal: AbortSignal | undefined;
}

/** A part of a large file. Nothing vouches for it but the file's hash, once all of it is fetched. */
async function keptPart({ file, range, signal }: Part, { ref, cache, source }: Origin): Promise<Buffer> {
  const name = `${range.offset}-${range.length}`;
  const folder = path.join(folderOf(cache, ref.id), ref.commit, `${OWN_PREFIX}-parts`);
  const place = path.join(folder, ...file.path.split('/'), name);
  const kept = await readFile(place).catch(() => undefined);
  if (kept?.length === range.length) return kept;
  const bytes = await source.read(ref, file, range, signal);
  await keep(place, bytes);
  return bytes;
}

function isWhole(bytes: Buffer, file: RepoFile): boolean {
  if (bytes.length !== file.size) return false;
  const expected = expectedDigest(file);
  return !expected || startDigest(file).update(bytes).digest('hex') === expected.hex;
}

/** Errors are ignored: without the cached copy, the next plan only makes one more request. */
async function keep(file: string, content: string | Buffer): Promise<void> {
  try {
    await makeFolder(path.dirname(file));
    await replaceFile(file, content);
  } catch {
    // See above.
  }
}
