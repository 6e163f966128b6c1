/** What is sent and installed, in bytes, beside what it may be: docs/package-sizes.md holds both. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Beyond these somebody has to look, and to say here why more is needed. */
const LIMITS = {
  'npm tarball': 7_000_000,
  // The builder, each of its processes and the server hold the writers of all types, of which some twenty came in a week.
  'npm package, unpacked': 18_000_000,
  'server in an image, without its pages': 8_800_000,
  'page of a model, gzip': 70_000,
  'reference of the interface (/docs), gzip': 520_000,
  'console of a gateway, gzip': 30_000,
};

const sum = (sizes) => sizes.reduce((a, b) => a + b, 0);
const sizesOf = (folder, wanted) =>
  readdirSync(folder)
    .filter(wanted)
    .map((name) => statSync(join(folder, name)))
    .filter((stat) => stat.isFile())
    .map(({ size }) => size);

/**
 * Measures the built tree.
 * @returns one row for each of the limits
 */
export function measure() {
  if (!existsSync('dist/image')) throw new Error('build first: make build');
  const asked = ['pack', '--ignore-scripts', '--dry-run', '--json', '--silent'];
  const [{ size, unpackedSize }] = JSON.parse(execFileSync('npm', asked, { maxBuffer: 2 ** 26 }));
  const pages = 'dist/image/playground';
  const ofDocs = (name) => name.startsWith('docs.');
  const bytes = [
    size,
    unpackedSize,
    sum(sizesOf('dist/image', () => true)),
    sum(sizesOf(pages, (name) => !ofDocs(name))),
    sum(sizesOf(pages, ofDocs)),
    sum(sizesOf('dist/gateway/console/page', () => true)),
  ];
  return Object.entries(LIMITS).map(([what, limit], i) => ({ what, bytes: bytes[i], limit }));
}

/** What is beyond its limit, a line each. */
export const beyond = (rows) =>
  rows
    .filter(({ bytes, limit }) => bytes > limit)
    .map(({ what, bytes, limit }) => `${what}: ${kb(bytes)} kB, and the limit is ${kb(limit)}`);

export const kb = (bytes) => (bytes / 1000).toFixed(1);
