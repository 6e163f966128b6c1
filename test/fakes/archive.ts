import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import tar from 'tar-stream';
import type { ArchiveSource } from '../../builder/archive/read.js';

export interface Entry {
  name: string;
  type?: 'file' | 'directory' | 'symlink' | 'link' | 'character-device';
  linkname?: string;
  content?: string | Buffer;
}

/** A tar of entries, in their order and with their names as they are, hostile ones too. */
export async function tarOf(entries: readonly Entry[]): Promise<Buffer> {
  const pack = tar.pack();
  for (const { content, ...given } of entries) {
    // The same entries are the same bytes, also a second later.
    const header = { mtime: new Date(0), ...given };
    if (content === undefined) pack.entry({ type: 'directory', ...header });
    else pack.entry(header, content);
  }
  pack.finalize();
  return buffer(pack);
}

export const file = (name: string, content: string | Buffer): Entry => ({ name, content });

export interface ImageInput {
  names?: string[];
  labels?: Record<string, string>;
  env?: string[];
  /** More of its configuration, e.g. `Entrypoint`. */
  settings?: Record<string, unknown>;
  /** Tars. */
  layers: Buffer[];
}

export interface FakeImage {
  /** `sha256:…` of its configuration. */
  id: string;
  diffIds: string[];
  entries: Entry[];
}

const hex = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');
export const digest = (bytes: Buffer | string): string => `sha256:${hex(bytes)}`;

function configOf({ labels = {}, env = [], settings, layers }: ImageInput): string {
  const diff_ids = layers.map(digest);
  const config = { ...settings, Labels: labels, Env: env };
  return JSON.stringify({ os: 'linux', architecture: 'amd64', config, rootfs: { type: 'layers', diff_ids } });
}

/** As Engine 20.10 saves: a folder a layer, links for a layer that comes again, manifest.json at the end. */
export function savedLayout(input: ImageInput): FakeImage {
  const config = configOf(input);
  const first = new Map<string, string>();
  const layers = input.layers.map((layer, index) => {
    const name = `${hex(`${index}`)}/layer.tar`;
    const known = first.get(hex(layer));
    first.set(hex(layer), known ?? name);
    const content = known === undefined ? file(name, layer) : undefined;
    return {
      name,
      entry: content ?? { name, type: 'symlink' as const, linkname: `../${known}`, content: '' },
    };
  });
  const manifest = [
    { Config: `${hex(config)}.json`, RepoTags: input.names ?? null, Layers: layers.map(({ name }) => name) },
  ];
  const entries = [
    ...layers.map(({ entry }) => entry),
    file(`${hex(config)}.json`, config),
    file('manifest.json', JSON.stringify(manifest)),
  ];
  return { id: digest(config), diffIds: input.layers.map(digest), entries };
}

/** As Engines from 25 on save: everything is a blob, and layers may be compressed. */
export function blobLayout(input: ImageInput, compress = false): FakeImage {
  const config = configOf(input);
  const stored = input.layers.map((layer) => (compress ? gzipSync(layer) : layer));
  const blob = (content: Buffer | string) => file(`blobs/sha256/${hex(content)}`, content);
  const about = JSON.stringify({
    schemaVersion: 2,
    config: { digest: digest(config) },
    layers: stored.map((layer) => ({ digest: digest(layer) })),
  });
  const index = { schemaVersion: 2, manifests: [{ digest: digest(about) }] };
  const blobs = [
    ...new Map([config, about, ...stored].map((content) => [hex(content), blob(content)])).values(),
  ];
  const manifest = [
    {
      Config: `blobs/sha256/${hex(config)}`,
      RepoTags: input.names ?? null,
      Layers: stored.map((layer) => `blobs/sha256/${hex(layer)}`),
    },
  ];
  const entries = [
    { name: 'blobs/sha256/', type: 'directory' as const },
    ...blobs,
    file('index.json', JSON.stringify(index)),
    file('manifest.json', JSON.stringify(manifest)),
    file('oci-layout', '{"imageLayoutVersion":"1.0.0"}'),
  ];
  return { id: digest(config), diffIds: input.layers.map(digest), entries };
}

/** The bytes as an archive, in small pieces. */
export function sourceOf(bytes: Buffer, name = 'x.tar'): ArchiveSource {
  return { name, open: async () => Readable.from(pieces(bytes), { objectMode: false }) };
}

function* pieces(bytes: Buffer, size = 1000): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
