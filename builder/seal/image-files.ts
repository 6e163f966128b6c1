import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ModelSpec } from '../../runtime/core/spec.js';
import { downloadDir } from '../../runtime/store/paths.js';
import { parseSpec } from '../../runtime/store/spec-file.js';
import { members } from '../archive/members.js';
import type { Docker } from '../docker/docker.js';
import { type ImagePath, readBytes } from '../docker/read-file.js';
import { BuilderError } from '../exit.js';

/** Paths of model.json in model images; the second was used by version 0.1.0. */
const SPEC_PATHS = ['/model.json', '/server/model.json'];

/**
 * Reads the spec from a model image.
 * @throws BuilderError `refused` when it holds no such file
 */
export async function specOfImage(docker: Docker, reference: string): Promise<ModelSpec> {
  for (const place of SPEC_PATHS) {
    const found = await readText(docker, { reference, path: place });
    if (found !== undefined) return parseSpec(found);
  }
  throw new BuilderError('refused', `${reference} holds no model.json: it is no image that builder has made`);
}

/** Text of a file of an image; empty for a link, undefined if it does not exist. */
export async function readText(docker: Docker, at: ImagePath): Promise<string | undefined> {
  const bytes = await readBytes(docker, at);
  return bytes && new TextDecoder().decode(bytes);
}

/**
 * Copies the model's files from a baked or committed image to their paths in `into`, without verification.
 * @returns false if the image has none
 */
export async function extractWeights(
  docker: Docker,
  { reference, spec, into }: { reference: string; spec: ModelSpec; into: string },
): Promise<boolean> {
  const place = downloadDir('/server/model', spec);
  const wanted = new Map(spec.files.map((file) => [`${spec.commit}/${file.path}`, file]));
  const copied = await docker.readImage({ reference, path: place }, async (stream) => {
    for await (const { name, type, size, content } of members(stream, reference)) {
      const file = type === 'file' ? wanted.get(name) : undefined;
      if (file?.size === size) await writeTo(path.join(into, ...file.path.split('/')), content);
    }
    return true;
  });
  return copied ?? false;
}

async function writeTo(target: string, content: Readable): Promise<void> {
  await mkdir(path.dirname(target), { recursive: true });
  await pipeline(content, createWriteStream(target));
}
