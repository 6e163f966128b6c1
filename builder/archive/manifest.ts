import { createHash } from 'node:crypto';
import path from 'node:path';
import * as z from 'zod';
import { malformedArchive } from './errors.js';
import { parseStrictJson } from './strict-json.js';

const DIFF_ID = /^sha256:[0-9a-f]{64}$/;

const manifestSchema = z
  .array(
    z.object({
      Config: z.string(),
      RepoTags: z.array(z.string()).nullish(),
      Layers: z.array(z.string()).nullish(),
    }),
  )
  .min(1);

const configSchema = z.object({
  os: z.string(),
  architecture: z.string(),
  config: z
    .looseObject({
      Labels: z.record(z.string(), z.string()).nullish(),
      Env: z.array(z.string()).nullish(),
    })
    .nullish(),
  rootfs: z.object({ diff_ids: z.array(z.string().regex(DIFF_ID)).nullish() }),
});

/** One image of an archive. */
export interface ArchiveImage {
  /** `sha256:` and the hash of its configuration: its id on engines with the classic image store. */
  id: string;
  names: string[];
  config: Buffer;
  labels: Record<string, string>;
  env: string[];
  /** How its containers run, from the configuration. */
  settings: Record<string, unknown>;
  platform: string;
  /** Lowest first: the hash of each layer's tar, and the member that holds it. */
  layers: { diffId: string; member: string }[];
}

/** Small members of an archive by name, and its links. */
export interface ArchiveDocuments {
  documents: Map<string, Buffer>;
  links: Map<string, string>;
}

/** The images in the archive's manifest.json. @throws BuilderError when parts are missing or hashes are wrong */
export function imagesOf(archive: string, found: ArchiveDocuments): ArchiveImage[] {
  const text = found.documents.get('manifest.json');
  if (!text) throw malformedArchive(archive, 'has no manifest.json');
  const entries = manifestSchema.safeParse(parsed(archive, 'manifest.json', text));
  if (!entries.success) throw malformedArchive(archive, 'has a manifest.json that lists no images');
  return entries.data.map((entry) => {
    const { Config, RepoTags, Layers } = entry;
    const config = found.documents.get(resolveLink(archive, Config, found.links));
    if (!config)
      throw malformedArchive(archive, `lacks the configuration of its image, ${JSON.stringify(Config)}`);
    const members = (Layers ?? []).map((layer) => resolveLink(archive, layer, found.links));
    return { names: RepoTags ?? [], ...imageOf(archive, { config, members }) };
  });
}

function imageOf(archive: string, { config, members }: { config: Buffer; members: string[] }) {
  const about = configSchema.safeParse(parsed(archive, 'configuration', config));
  if (!about.success) throw malformedArchive(archive, 'has an image configuration that is none');
  const { os, architecture, rootfs, config: settings } = about.data;
  const diffIds = rootfs.diff_ids ?? [];
  if (diffIds.length !== members.length)
    throw malformedArchive(archive, `lists ${members.length} layers for an image of ${diffIds.length}`);
  return {
    id: blobDigest(config),
    config,
    labels: settings?.Labels ?? {},
    env: settings?.Env ?? [],
    settings: settings ?? {},
    platform: `${os}/${architecture}`,
    layers: diffIds.map((diffId, index) => ({ diffId, member: members[index]! })),
  };
}

/** `sha256:` and the hex digest. */
export function blobDigest(bytes: Buffer | string): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

function parsed(archive: string, what: string, text: Buffer): unknown {
  try {
    return parseStrictJson(text.toString('utf8'));
  } catch (error) {
    throw malformedArchive(archive, `has a ${what} that can't be read: ${(error as Error).message}`);
  }
}

/** Engines write a shared layer once, and links to it. */
function resolveLink(archive: string, name: string, links: Map<string, string>): string {
  let at = path.posix.normalize(name);
  for (let step = 0; links.has(at); step++) {
    if (step > 8) throw malformedArchive(archive, `has links in a circle at "${name}"`);
    at = path.posix.normalize(path.posix.join(path.posix.dirname(at), links.get(at)!));
  }
  if (at.startsWith('..') || at.startsWith('/'))
    throw malformedArchive(archive, `has a link out of it, "${name}"`);
  return at;
}
