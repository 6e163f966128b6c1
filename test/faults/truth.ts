import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the files of a model hold. */
export type Truth = ReadonlyMap<string, Buffer>;

/** What lies in a download folder, beside the truth. */
export interface Inventory {
  /** Final names whose content is wrong: there must never be one. */
  wrong: string[];
  complete: boolean;
  /** Bytes that are neither under a final name nor in a part. */
  missing: number;
  /** Sizes of the files whose part is not how the file begins: nobody can know before the last byte. */
  spoilt: number;
}

export function inventory(dir: string, truth: Truth): Inventory {
  const found: Inventory = { wrong: [], complete: true, missing: 0, spoilt: 0 };
  for (const [path, content] of truth) {
    const file = read(join(dir, path));
    if (file?.equals(content)) continue;
    found.complete = false;
    if (file) {
      found.wrong.push(path);
      found.missing += content.length;
      continue;
    }
    const part = read(`${join(dir, path)}.part`) ?? Buffer.alloc(0);
    const begins = content.subarray(0, part.length).equals(part);
    found.missing += content.length - (part.length > content.length ? 0 : part.length);
    if (!begins) found.spoilt += content.length;
  }
  return found;
}

/** Changes a byte in a part or a finished file, where there is one that has a byte. @returns its path */
export function damage(dir: string, truth: Truth, where: 'part' | 'file'): string | undefined {
  for (const path of truth.keys()) {
    const target = join(dir, path) + (where === 'part' ? '.part' : '');
    const content = read(target);
    if (!content?.length) continue;
    content[content.length >> 1]! ^= 1;
    writeFileSync(target, content);
    // Another time stamp than the manifest's, as any write leaves it.
    const { mtimeMs } = statSync(target);
    utimesSync(target, new Date(), new Date(mtimeMs + 1500));
    return path;
  }
  return undefined;
}

function read(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
