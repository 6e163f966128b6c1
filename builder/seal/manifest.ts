import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import type { ModelSpec } from '../../runtime/core/spec.js';
import type { ContextEntry } from '../images/tar.js';
import type { Platform } from '../images/platform.js';
import type { ContainerSettings } from './settings.js';

/** Folder of a sealed image that says what was sealed. */
export const SEALED_DIR = '/server/sealed';
export const SEALED_MANIFEST = `${SEALED_DIR}/manifest.json`;
export const SBOM_FILE = `${SEALED_DIR}/sbom.cdx.json`;

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const absolute = z.string().regex(/^\/(?!.*(?:^|\/)\.\.?(?:\/|$))/);

const manifest = z.object({
  version: z.literal(2),
  model: z.string(),
  commit: z.string(),
  task: z.string(),
  platform: z.string(),
  /** How containers run: see sealedSettings. */
  config: z.record(z.string(), z.unknown()),
  /** Diff IDs of all layers below the sealing one, lowest first: those of the base and the runtime image, too. */
  base: z.object({ layers: z.array(z.string().regex(/^sha256:[0-9a-f]{64}$/)) }),
  /** Every regular file that we have put into the image but the manifest itself, sorted by path. */
  files: z.array(z.object({ path: absolute, size: z.int().min(0), sha256 })),
});

export type SealedManifest = z.output<typeof manifest>;
export type SealedFile = SealedManifest['files'][number];

/** @throws Error when the text is no manifest of a sealed image */
export function parseManifest(text: string): SealedManifest {
  return manifest.parse(JSON.parse(text));
}

export function formatSealedManifest(content: SealedManifest): string {
  return `${JSON.stringify(content, null, 1)}\n`;
}

export interface SealedParts {
  spec: Pick<ModelSpec, 'id' | 'commit' | 'task'>;
  platform: Platform;
  /** Of the sealed image. */
  config: ContainerSettings;
  /** Diff IDs of the image that is sealed. */
  layers: string[];
  files: readonly SealedFile[];
}

export function sealedManifest({ spec, platform, config, layers, files }: SealedParts): SealedManifest {
  return {
    version: 2,
    model: spec.id,
    commit: spec.commit,
    task: spec.task,
    platform,
    config,
    base: { layers },
    files: files.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
  };
}

/** The regular files of a layer's entries by their place in the image, hashed by what they hold now. */
export async function hashLayerFiles(layer: readonly ContextEntry[]): Promise<SealedFile[]> {
  const files: SealedFile[] = [];
  // One after the other: large files are hashed as fast as one core and one disk can.
  for (const { path, content } of layer) {
    if (content !== undefined) files.push({ path: placeOf(path), ...(await measure(content)) });
  }
  return files;
}

/** A layer's entries lie in a folder of the build context that is copied to the root. */
function placeOf(path: string): string {
  return path.slice(path.indexOf('/'));
}

async function measure(content: NonNullable<ContextEntry['content']>): Promise<Omit<SealedFile, 'path'>> {
  const hash = createHash('sha256');
  if (typeof content === 'string' || Buffer.isBuffer(content)) {
    return { size: Buffer.byteLength(content), sha256: hash.update(content).digest('hex') };
  }
  await pipeline(createReadStream(content.file, { highWaterMark: 2 ** 20 }), hash);
  return { size: content.size, sha256: hash.digest('hex') };
}
