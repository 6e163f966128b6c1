import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

export interface HubModel {
  /** Folder with the files. */
  dir: string;
  pipeline_tag?: string;
  library_name?: string;
  tags?: string[];
  gated?: 'auto' | 'manual';
  private?: boolean;
  /** Branches and tags beside main; all of them name the same commit. */
  revisions?: string[];
  /** Texts that the folder lacks, by path. */
  added?: Record<string, string>;
  /** Files too large to be made: their first bytes, behind which are zeros up to their size. */
  large?: Record<string, { head: Buffer; size: number }>;
}

export interface HubFile {
  path: string;
  size: number;
  /** Git blob id. */
  oid: string;
  /** Set for files that the hub keeps outside of git. */
  lfs?: { oid: string; size: number; pointerSize: number };
  /** Bytes of the file; reads the folder, so that a test may change a file under the hub's feet. */
  read(from: number, to: number): Buffer;
}

export interface Repository {
  about: HubModel;
  /** 40 hex digits over names and content. */
  commit: string;
  files: HubFile[];
  /** What listings show: files and folders. */
  entries: ({ type: string; path: string; size: number; oid: string } & Pick<HubFile, 'lfs'>)[];
}

const LFS_BYTES = 10 * 1024;

export function readRepository(about: HubModel): Repository {
  const names = readdirSync(about.dir, { withFileTypes: true, recursive: true });
  const paths = names
    .filter((entry) => entry.isFile())
    .map((entry) => relative(about.dir, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((path) => !path.split('/').some((part) => part.startsWith('.')))
    .sort();
  const added = about.added ?? {};
  const files = [
    ...paths
      .filter((path) => !(path in added))
      .map((path) => describeFile(path, () => readFileSync(join(about.dir, path)))),
    ...Object.entries(added).map(([path, text]) => describeFile(path, () => Buffer.from(text))),
    ...Object.entries(about.large ?? {}).map(([path, file]) => largeFile(path, file)),
  ].sort((a, b) => (a.path < b.path ? -1 : 1));
  const commit = sha1(files.map(({ path, oid }) => `${oid} ${path}\n`).join(''));
  const folders = [...new Set(files.flatMap(({ path }) => parents(path)))].sort();
  const folderEntries = folders.map((path) => ({ type: 'directory', path, size: 0, oid: sha1(path) }));
  const fileEntries = files.map(({ path, size, oid, lfs }) => ({
    type: 'file',
    path,
    size,
    oid,
    ...(lfs && { lfs }),
  }));
  return { about, commit, files, entries: [...folderEntries, ...fileEntries] };
}

function describeFile(path: string, read: () => Buffer): HubFile {
  const bytes = read();
  const size = bytes.length;
  const oid = createHash('sha1').update(`blob ${size}\0`).update(bytes).digest('hex');
  const file: HubFile = { path, size, oid, read: (from, to) => read().subarray(from, to) };
  if (size <= LFS_BYTES && !path.endsWith('.onnx')) return file;
  return { ...file, lfs: { oid: createHash('sha256').update(bytes).digest('hex'), size, pointerSize: 134 } };
}

/** Its hash is made up: nobody downloads it. */
function largeFile(path: string, { head, size }: { head: Buffer; size: number }): HubFile {
  const oid = createHash('sha256').update(head).digest('hex');
  const read = (from: number, to: number) => {
    const bytes = Buffer.alloc(Math.min(to, size) - from);
    head.copy(bytes, 0, Math.min(from, head.length));
    return bytes;
  };
  return { path, size, oid: sha1(path), lfs: { oid, size, pointerSize: 135 }, read };
}

function parents(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, i) => parts.slice(0, i + 1).join('/'));
}

function sha1(text: string): string {
  return createHash('sha1').update(text).digest('hex');
}
