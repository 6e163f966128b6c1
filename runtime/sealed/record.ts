import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { ModelSpec } from '../core/spec.js';
import { StoreError } from '../store/errors.js';
import { downloadDir } from '../store/paths.js';

/** Paths in the sealed record. */
const MODEL_JSON = '/model.json';
const MODEL_DIR = '/server/model';

/** The part of the sealed record that the server uses; "builder verify" checks all of it. */
const record = z.object({
  files: z.array(z.object({ path: z.string(), sha256: z.string() })),
});

/** A file and its expected hash. */
export interface FileCheck {
  /** Path in its repository. */
  name: string;
  path: string;
  size: number;
  sha256: string;
}

export interface SealedModel {
  spec: ModelSpec;
  /** Text of model.json. */
  specText: string;
  /** Folder with its files. */
  dir: string;
}

/**
 * Expected hashes of the model's files in a sealed image.
 * @throws StoreError when the record can't be read or belongs to another model
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

/** The message is shown to callers; the cause is for the log. */
export function alteredWeights(cause: string): StoreError {
  const reason = 'this image is sealed, and its weights are not what was sealed';
  return new StoreError('corrupt', reason, {
    remedy: 'check it with "builder verify", and load it again',
    cause,
  });
}
