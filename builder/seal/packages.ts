import { readFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import type { ContextEntry } from '../images/tar.js';

/** A program or library inside the image. */
export interface Package {
  name: string;
  version: string;
  /** From its own manifest; usually an SPDX expression. */
  license?: string | undefined;
  /** Package URL without name and version: `npm`, or `deb/debian`. */
  kind: string;
  /** Qualifiers of the package URL. */
  qualifiers?: Record<string, string>;
}

const manifest = z.object({
  name: z.string(),
  version: z.string(),
  license: z.string().optional().catch(undefined),
});

/** Written by the build of the server. */
const BUNDLED = 'dist/image/packages.json';

/** npm packages inside the server's bundle. @throws when the server is not built */
export async function bundledPackages(packageRoot: string): Promise<Package[]> {
  const text = await readFile(path.join(packageRoot, BUNDLED), 'utf8');
  return z
    .array(manifest)
    .parse(JSON.parse(text))
    .map((each) => ({ ...each, kind: 'npm' }));
}

/** npm packages beside the bundle in a runtime image. */
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

/** Operating system of a base image, from os-release. */
export interface OperatingSystem {
  /** `debian`, `ubuntu`, … */
  id: string;
  version: string | undefined;
}

/** @returns undefined if the text names none */
export function operatingSystem(osRelease: string): OperatingSystem | undefined {
  const value = (name: string) => new RegExp(`^${name}="?([\\w.-]+)"?$`, 'm').exec(osRelease)?.[1];
  const id = value('ID');
  return id === undefined ? undefined : { id, version: value('VERSION_ID') };
}

/**
 * Installed Debian packages of a base image, from its /var/lib/dpkg/status. Includes architecture, distribution and source
 * package, which vulnerability scanners need.
 */
export function debianPackages(status: string, system?: OperatingSystem): Package[] {
  const distro = system && `${system.id}${system.version === undefined ? '' : `-${system.version}`}`;
  return status
    .split(/\n\n+/)
    .filter((block) => isInstalled(field(block, 'Status')))
    .flatMap((block) => {
      const [name, version] = [field(block, 'Package'), field(block, 'Version')];
      if (name === undefined || version === undefined) return [];
      const arch = field(block, 'Architecture');
      const upstream = field(block, 'Source')?.replace(/ \((.*)\)$/, '@$1');
      const qualifiers = { ...(arch && { arch }), ...(distro && { distro }), ...(upstream && { upstream }) };
      return [{ name, version, kind: `deb/${system?.id ?? 'debian'}`, qualifiers }];
    });
}

/** Distroless images have no status field. */
function isInstalled(status: string | undefined): boolean {
  return status === undefined || status.endsWith(' installed');
}

function field(block: string, name: string): string | undefined {
  return new RegExp(`^${name}: (.+)$`, 'm').exec(block)?.[1];
}
