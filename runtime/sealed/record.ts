import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { ModelSpec } from '../core/spec.js';
import { StoreError } from '../store/errors.js';
import { downloadDir } from '../store/paths.js';

/** Where a sealed image has what its record calls by these names, wherever the server finds it. */
const MODEL_JSON = '/model.json';
const MODEL_DIR = '/server/model';

/** As much of the sealed record as the server itself looks at; the whole of it is for "builder verify". */
const record = z.object({
  files: z.array(z.object({ path: z.string(), sha256: z.string() })),
});

/** A file, and what it has to be. */
export interface FileCheck {
  /** In its repository. */
  name: string;
  path: string;
  size: number;
  sha256: string;
}

export interface SealedModel {
  spec: ModelSpec;
  /** The text that the spec was read from. */
  specText: string;
  /** Folder with its files. */
  dir: string;
}

/**
 * What the files of a sealed image's model have to be.
 * @throws StoreError when the record can't be read, or is one of another model
 */
export function sealedFileChecks(recordFile: string, { spec, specText, dir }: SealedModel): FileCheck[] {
  const hashes = new Map(readRecord(recordFile).map(({ path, sha256 }) => [path, sha256]));
  if (hashes.get(MODEL_JSON) !== createHash('sha256').update(specText).digest('hex'))
    throw alteredWeights(`${MODEL_JSON} is not the one that was sealed`);
  const sealedDir = downloadDir(MODEL_DIR, spec);
  return spec.files.map(({ path: name, size }) => {
    const sha256 = hashes.get(join(sealedDir, ...name.split('/')));
    if (sha256 === undefined) throw alteredWeights(`the record does not have ${name}`);
    return { name, path: join(dir, ...name.split('/')), size, sha256 };
  });
}

function readRecord(file: string): { path: string; sha256: string }[] {
  try {
    return record.parse(JSON.parse(readFileSync(file, 'utf8'))).files;
  } catch (error) {
    throw alteredWeights(`the record can't be read: ${(error as Error).message}`);
  }
}

/** The sentence that callers see; the cause is for the log. */
export function alteredWeights(cause: string): StoreError {
  const reason = 'this image is sealed, and its weights are not what was sealed';
  return new StoreError('corrupt', reason, {
    remedy: 'check it with "builder verify", and load it again',
    cause,
  });
}
