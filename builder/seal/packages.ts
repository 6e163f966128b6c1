import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { ContextEntry } from '../images/tar.js';
import type { Package } from './sbom.js';

const manifest = z.object({
  name: z.string(),
  version: z.string(),
  license: z.string().optional().catch(undefined),
});

/** Written beside the bundle by the build of the server. */
const BUNDLED = 'dist/image/packages.json';

/** npm packages inside the server's bundle. @throws when the server is not built */
export async function bundledPackages(packageRoot: string): Promise<Package[]> {
  const text = await readFile(path.join(packageRoot, BUNDLED), 'utf8');
  return z
    .array(manifest)
    .parse(JSON.parse(text))
    .map((each) => ({ ...each, kind: 'npm' }));
}

/** npm packages that lie beside the bundle in a runtime image. */
export async function shippedPackages(entries: readonly ContextEntry[]): Promise<Package[]> {
  const own = entries.filter((entry) =>
    /^packages\/server\/node_modules\/(?:@[^/]+\/)?[^/]+\/package\.json$/.test(entry.path),
  );
  return Promise.all(
    own.map(async ({ content }) => {
      const { file } = content as { file: string };
      return { ...manifest.parse(JSON.parse(await readFile(file, 'utf8'))), kind: 'npm' };
    }),
  );
}

/** Debian packages of a base image, from the text of its /var/lib/dpkg/status. Those that were removed don't count. */
export function debianPackages(status: string): Package[] {
  return status
    .split(/\n\n+/)
    .map((block) => ({ block, name: field(block, 'Package'), version: field(block, 'Version') }))
    .filter(({ block, name, version }) => name && version && field(block, 'Status')?.endsWith(' installed'))
    .map(({ name, version }) => ({ name: name!, version: version!, kind: 'deb/debian' }));
}

function field(block: string, name: string): string | undefined {
  return new RegExp(`^${name}: (.+)$`, 'm').exec(block)?.[1];
}
