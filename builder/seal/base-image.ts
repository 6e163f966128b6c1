import { createHash } from 'node:crypto';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type Member, members } from '../archive/members.js';
import type { Docker, ImageDetails } from '../docker/docker.js';
import { readText } from './image-files.js';
import { debianPackages, type OperatingSystem, operatingSystem, type Package } from './packages.js';
import type { NodeProgram } from './sbom.js';

/** Contents of the base image: operating system, packages, Node.js. */
export interface BaseParts {
  system: OperatingSystem | undefined;
  packages: Package[];
  node: NodeProgram | undefined;
}

/** Reads files of an image without running it. */
export async function basePartsOf(docker: Docker, image: ImageDetails): Promise<BaseParts> {
  const read = (file: string) => readText(docker, { reference: image.id, path: file });
  // The first is usually a link to the second, and reading a link gives no text.
  const release = (await read('/etc/os-release')) || (await read('/usr/lib/os-release')) || '';
  const system = operatingSystem(release);
  const status = (await read('/var/lib/dpkg/status')) ?? (await readStatusFolder(docker, image));
  return { system, packages: debianPackages(status, system), node: await nodeOf(docker, image) };
}

/** Distroless images list each package in a file of its own. */
async function readStatusFolder(docker: Docker, { id }: ImageDetails): Promise<string> {
  const at = { reference: id, path: '/var/lib/dpkg/status.d' };
  const blocks = await docker.readImage(at, async (stream) => {
    const found: string[] = [];
    for await (const { name, type, content } of members(stream, id))
      if (type === 'file' && !name.endsWith('.md5sums')) found.push((await text(content)).trim());
    return found;
  });
  return (blocks ?? []).join('\n\n');
}

const PATH = 'PATH=';
const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** Most links to follow. */
const MAX_LINKS = 4;

/** The Node.js that `node` starts. */
async function nodeOf(docker: Docker, { id, env }: ImageDetails): Promise<NodeProgram | undefined> {
  const search = env.find((line) => line.startsWith(PATH))?.slice(PATH.length) ?? DEFAULT_PATH;
  const named = env.find((line) => line.startsWith('NODE_VERSION='))?.slice('NODE_VERSION='.length);
  for (const folder of search.split(':').filter((each) => each.startsWith('/'))) {
    let place = path.posix.join(folder, 'node');
    for (let links = 0; links <= MAX_LINKS; links++) {
      const found = await programAt(docker, { reference: id, path: place });
      if (found === undefined) break;
      if ('sha256' in found) return { path: place, sha256: found.sha256, version: found.version ?? named };
      place = path.posix.resolve(path.posix.dirname(place), found.link);
    }
  }
  return undefined;
}

type Found = { sha256: string; version: string | undefined } | { link: string };

async function programAt(
  docker: Docker,
  at: { reference: string; path: string },
): Promise<Found | undefined> {
  return docker.readImage(at, async (stream: Readable) => {
    let found: Found | undefined;
    for await (const member of members(stream, at.reference)) found ??= await foundIn(member);
    return found;
  });
}

async function foundIn({ type, linkname, content }: Member): Promise<Found | undefined> {
  if (type === 'symlink') return { link: linkname ?? '' };
  return type === 'file' ? scanned(content) : undefined;
}

/** The Node.js binary contains the URL of its source, with its version. */
const ADDRESS = 'nodejs.org/download/release/v';
const VERSION = /^\d+\.\d+\.\d+/;
const LONGEST_VERSION = 20;

async function scanned(content: Readable): Promise<Extract<Found, { sha256: string }>> {
  const hash = createHash('sha256');
  let version: string | undefined;
  let tail = Buffer.alloc(0);
  for await (const chunk of content as AsyncIterable<Buffer>) {
    hash.update(chunk);
    if (version !== undefined) continue;
    const window = Buffer.concat([tail, chunk]);
    version = versionIn(window);
    tail = window.subarray(-(ADDRESS.length + LONGEST_VERSION));
  }
  return { sha256: hash.digest('hex'), version: version ?? versionIn(tail, true) };
}

/** @param last true for the last window */
function versionIn(bytes: Buffer, last = false): string | undefined {
  for (let at = bytes.indexOf(ADDRESS); at >= 0; at = bytes.indexOf(ADDRESS, at + 1)) {
    const start = at + ADDRESS.length;
    // The version may be cut off here; the next window has all of it.
    if (!last && start + LONGEST_VERSION > bytes.length) return undefined;
    const found = VERSION.exec(bytes.toString('latin1', start, start + LONGEST_VERSION))?.[0];
    if (found !== undefined) return found;
  }
  return undefined;
}
