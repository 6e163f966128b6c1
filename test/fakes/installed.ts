import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './server.js';

const execute = promisify(execFile);

export interface InstalledPackage {
  /** The package's own folder. */
  folder: string;
  /** Files of the tarball, as npm lists them. */
  files: readonly string[];
  /** An empty folder to call the commands from. */
  cwd: string;
  /** For the commands: their folder and that of node first, an empty home, and nothing else of this process. */
  env: Record<string, string>;
}

interface Lock {
  packages: Record<string, { dev?: boolean; version?: string }>;
}

/**
 * Packs the checkout with `npm pack` and lays the tarball out as `npm install -g` does, below a prefix of its own. No
 * registry is asked: the packages that the tarball's own lockfile names, and no others, are links into the checkout's
 * node_modules, which `npm ci` has filled by the same lockfile. So a file that the tarball lacks, or a package that only
 * development needs, is missing here as it would be anywhere.
 */
export async function installPackage(): Promise<InstalledPackage> {
  const place = await mkdtemp(join(tmpdir(), 'slipway-package-'));
  const [prefix, home, cwd] = ['prefix', 'home', 'cwd'].map((name) => join(place, name)) as [
    string,
    string,
    string,
  ];
  const folder = join(prefix, 'lib/node_modules/slipway');
  for (const each of [folder, join(prefix, 'bin'), home, cwd]) await mkdir(each, { recursive: true });
  const { filename, files } = await pack(place);
  await execute('tar', ['-xzf', join(place, filename), '--strip-components=1', '-C', folder]);
  await linkCommands(folder, join(prefix, 'bin'));
  await linkDependencies(folder);
  const env = {
    PATH: [join(prefix, 'bin'), dirname(process.execPath), '/usr/bin', '/bin'].join(':'),
    HOME: home,
    TMPDIR: tmpdir(),
  };
  return { folder, files, cwd, env };
}

/** Without scripts: the suites have built, and others of them read `dist` meanwhile. */
async function pack(destination: string): Promise<{ filename: string; files: string[] }> {
  const args = ['pack', '--ignore-scripts', '--json', '--offline', '--pack-destination', destination];
  const { stdout } = await execute('npm', args, { cwd: ROOT });
  const [packed] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  return { filename: packed.filename, files: packed.files.map(({ path }) => path) };
}

async function readJson<T>(...path: string[]): Promise<T> {
  return JSON.parse(await readFile(join(...path), 'utf8')) as T;
}

async function linkCommands(folder: string, bin: string): Promise<void> {
  const { bin: commands } = await readJson<{ bin: Record<string, string> }>(folder, 'package.json');
  for (const [name, file] of Object.entries(commands)) {
    await chmod(join(folder, file), 0o755);
    await symlink(relative(bin, join(folder, file)), join(bin, name));
  }
}

/** What lies below another package comes with it. Packages for other platforms are not installed here. */
async function linkDependencies(folder: string): Promise<void> {
  const { packages } = await readJson<Lock>(folder, 'npm-shrinkwrap.json');
  for (const [path, { dev, version }] of Object.entries(packages)) {
    if (dev || !/^node_modules\/(?:@[^/]+\/)?[^/]+$/.test(path)) continue;
    const installed = join(ROOT, path);
    if (!(await stat(installed).catch(() => undefined))) continue;
    const { version: found } = await readJson<{ version: string }>(installed, 'package.json');
    if (found !== version) throw new Error(`${path} is ${found}, and ${version} in the lockfile: npm ci`);
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await symlink(installed, join(folder, path));
  }
}
