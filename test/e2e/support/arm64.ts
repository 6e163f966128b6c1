import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import tar from 'tar-stream';
import { docker, run } from './process.js';

async function packed(members: Record<string, string | Buffer>): Promise<Buffer> {
  const pack = tar.pack();
  for (const [name, content] of Object.entries(members)) pack.entry({ name }, content);
  pack.finalize();
  return buffer(pack);
}

/** An arm64 image with one file, enough to build on: nothing runs while an image is made. */
export async function loadEmptyBase(name: string): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'slipway-arm64-'));
  const layer = await packed({ 'etc/base': 'arm64\n' });
  const digest = createHash('sha256').update(layer).digest('hex');
  const config = {
    ...{ architecture: 'arm64', os: 'linux', config: {} },
    ...{ rootfs: { type: 'layers', diff_ids: [`sha256:${digest}`] }, history: [{ created_by: 'test' }] },
  };
  const manifest = [{ Config: 'config.json', RepoTags: [name], Layers: ['layer.tar'] }];
  const image = await packed({
    'config.json': JSON.stringify(config),
    'manifest.json': JSON.stringify(manifest),
    'layer.tar': layer,
  });
  await writeFile(path.join(folder, 'base.tar'), image);
  await docker('load', '--input', path.join(folder, 'base.tar'));
  await rm(folder, { recursive: true });
}

export interface Inspected {
  architecture: string;
  os: string;
  /** Machine numbers of ELF headers by path, over all layers but the lowest `below`. */
  machines: Map<string, number>;
}

/** ELF machine numbers. */
export const AARCH64 = 183;

/** Looks at every file of every layer of a saved image above its base. */
export async function inspectLayers(image: string, below: number): Promise<Inspected> {
  const folder = await mkdtemp(path.join(tmpdir(), 'slipway-layers-'));
  try {
    await docker('save', '--output', path.join(folder, 'image.tar'), image);
    const { code, stderr } = await run('tar', ['-xf', 'image.tar', '-C', '.'], { cwd: folder });
    if (code !== 0) throw new Error(stderr);
    const json = async (name: string) =>
      JSON.parse(await readFile(path.join(folder, name), 'utf8')) as unknown;
    const [{ Config, Layers }] = (await json('manifest.json')) as [{ Config: string; Layers: string[] }];
    const { architecture, os } = (await json(Config)) as { architecture: string; os: string };
    const machines = new Map<string, number>();
    for (const layer of Layers.slice(below)) await readMachines(path.join(folder, layer), machines);
    return { architecture, os, machines };
  } finally {
    await rm(folder, { recursive: true });
  }
}

const ELF = Buffer.from('\x7fELF', 'latin1');
const MACHINE_AT = 18;

async function readMachines(layer: string, machines: Map<string, number>): Promise<void> {
  const extract = createReadStream(layer).pipe(tar.extract());
  for await (const entry of extract) {
    const chunks: Buffer[] = [];
    for await (const chunk of entry) if (chunks.length < 2) chunks.push(chunk as Buffer);
    const head = Buffer.concat(chunks);
    if (head.length > MACHINE_AT + 2 && head.subarray(0, 4).equals(ELF))
      machines.set(entry.header.name, head.readUInt16LE(MACHINE_AT));
  }
}
