import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import tar from 'tar-stream';

/** An image as a tarball holds it, open for changes. */
export interface OpenImage {
  names: string[];
  config: {
    config: Record<string, unknown> & { Env: string[]; Labels: Record<string, string> };
    rootfs: { diff_ids: string[] };
    history: { created_by: string }[];
  };
  /** Tars, lowest first. */
  layers: Buffer[];
}

const hex = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');

/** The image of an uncompressed tarball that `builder export` has written. */
export async function openTarball(file: string): Promise<OpenImage> {
  const files = new Map<string, Buffer>();
  const links = new Map<string, string>();
  for await (const { header, content } of entriesOf(await readFile(file))) {
    files.set(header.name, content);
    if (header.type === 'symlink') links.set(header.name, header.linkname.replace(/^(?:\.\.\/)+/, ''));
  }
  const json = (name: string) => JSON.parse(String(files.get(name))) as unknown;
  const [entry] = json('manifest.json') as [{ Config: string; RepoTags: string[]; Layers: string[] }];
  return {
    names: entry.RepoTags,
    config: json(entry.Config) as OpenImage['config'],
    layers: entry.Layers.map((name) => files.get(links.get(name) ?? name)!),
  };
}

/** The layer with its files changed: `change` gets each one and returns what it becomes. */
export async function changedLayer(
  layer: Buffer,
  change: (path: string, content: Buffer) => Buffer,
): Promise<Buffer> {
  const pack = tar.pack();
  const done = buffer(pack);
  for await (const { header, content } of entriesOf(layer)) {
    const next = header.type === 'file' ? change(`/${header.name}`, content) : content;
    await new Promise<void>((resolve, reject) => {
      pack.entry({ ...header, size: next.length }, next, (error) => (error ? reject(error) : resolve()));
    });
  }
  pack.finalize();
  return done;
}

/** A layer of its own. */
export async function newLayer(files: Record<string, string>): Promise<Buffer> {
  const pack = tar.pack();
  for (const [name, content] of Object.entries(files)) pack.entry({ name }, content);
  pack.finalize();
  return buffer(pack);
}

/** Index of the layer that holds a file. */
export async function layerWith(layers: readonly Buffer[], path: RegExp): Promise<number> {
  for (const [index, layer] of layers.entries()) {
    for await (const { header } of entriesOf(layer))
      if (header.type === 'file' && path.test(`/${header.name}`)) return index;
  }
  throw new Error(`no layer has ${String(path)}`);
}

export type TarLayout = 'docker' | 'oci';

/**
 * Writes the image with every hash made right again, as Engines up to 24 save images, or as later ones do.
 * @returns its id
 */
export async function rehashed(image: OpenImage, file: string, layout: TarLayout): Promise<string> {
  const digests = image.layers.map((layer) => hex(layer));
  const rootfs = { ...image.config.rootfs, diff_ids: digests.map((digest) => `sha256:${digest}`) };
  const config = JSON.stringify({ ...image.config, rootfs });
  const id = hex(config);
  const pack = tar.pack();
  const stored = buffer(pack);
  const nameOf = (digest: string) => (layout === 'oci' ? `blobs/sha256/${digest}` : `${digest}/layer.tar`);
  const configName = layout === 'oci' ? `blobs/sha256/${id}` : `${id}.json`;
  const manifest = [{ Config: configName, RepoTags: image.names, Layers: digests.map(nameOf) }];
  const once = new Map(digests.map((digest, index) => [nameOf(digest), image.layers[index]!]));
  for (const [name, layer] of once) pack.entry({ name }, layer);
  pack.entry({ name: configName }, config);
  pack.entry({ name: 'manifest.json' }, JSON.stringify(manifest));
  if (layout === 'oci') {
    const layers = digests.map((digest) => ({ digest: `sha256:${digest}` }));
    const about = JSON.stringify({ schemaVersion: 2, config: { digest: `sha256:${id}` }, layers });
    const index = { schemaVersion: 2, manifests: [{ digest: `sha256:${hex(about)}` }] };
    pack.entry({ name: `blobs/sha256/${hex(about)}` }, about);
    pack.entry({ name: 'index.json' }, JSON.stringify(index));
    pack.entry({ name: 'oci-layout' }, '{"imageLayoutVersion":"1.0.0"}');
  }
  pack.finalize();
  await writeFile(file, await stored);
  return `sha256:${id}`;
}

async function* entriesOf(bytes: Buffer): AsyncGenerator<{ header: tar.Header; content: Buffer }> {
  const extract = tar.extract();
  Readable.from([bytes]).pipe(extract);
  for await (const entry of extract) {
    const content = await buffer(entry);
    yield { header: entry.header, content };
  }
}
