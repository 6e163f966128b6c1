import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import * as z from 'zod';
import type { ModelSpec } from '../../runtime/core/spec.js';
import type { ContextEntry } from '../images/tar.js';
import type { Platform } from '../images/platform.js';
import type { ContainerSettings } from './settings.js';

/** Folder of the sealing layer's files. */
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
  /** Container settings; see sealedSettings. */
  config: z.record(z.string(), z.unknown()),
  /** Diff IDs of all layers below the sealing layer, lowest first, base and runtime image included. */
  base: z.object({ layers: z.array(z.string().regex(/^sha256:[0-9a-f]{64}$/)) }),
  /** All regular files that we added to the image, except the manifest itself, sorted by path. */
  files: z.array(z.object({ path: absolute, size: z.int().min(0), sha256 })),
});

export type SealedManifest = z.output<typeof manifest>;
export type SealedFile = SealedManifest['files'][number];

/** @throws Error when the text is not a valid manifest */
export function parseManifest(text: string): SealedManifest {
  return manifest.parse(JSON.parse(text));
}

export function formatSealedManifest(content: SealedManifest): string {
  return `${JSON.stringify(content, null, 1)}\n`;
}

export interface SealedParts {
  spec: Pick<ModelSpec, 'id' | 'commit' | 'task'>;
  platform: Platform;
  /** Settings of the sealed image. */
  config: ContainerSettings;
  /** Diff IDs of the image to be sealed. */
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

/** Hashes the regular files of a layer, with their paths in the image. */
export async function hashLayerFiles(layer: readonly ContextEntry[]): Promise<SealedFile[]> {
  const files: SealedFile[] = [];
  // One after the other, since a large file already uses the disk fully.
  for (const { path, content } of layer) {
    if (content !== undefined) files.push({ path: imagePathOf(path), ...(await measure(content)) });
  }
  return files;
}

/** Path in the image: entries are in a folder of the build context that is copied to the root. */
function imagePathOf(path: string): string {
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
