/**
 * Adds to npm-shrinkwrap.json the optional platform packages that a registry mirror did not have when the lock was
 * written. npm leaves them out in silence, and then `npm ci` refuses the lock on every machine. Run it after
 * `npm install`; `npm ci` proves the result.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const OS = [
  'darwin',
  'linux',
  'win32',
  'android',
  'freebsd',
  'openbsd',
  'netbsd',
  'sunos',
  'aix',
  'openharmony',
  'wasm32',
];
const CPU = ['arm64', 'x64', 'ia32', 'arm', 'ppc64', 'riscv64', 's390x', 'loong64', 'mips64el', 'wasm32'];

const lock = JSON.parse(readFileSync('npm-shrinkwrap.json', 'utf8'));
const { packages } = lock;
let added = 0;

for (const entry of Object.values(packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const path = `node_modules/${name}`;
    if (packages[path] || !/^\d/.test(version)) continue;
    packages[path] = platformEntry(name, version, entry.dev === true);
    added++;
  }
}

/** The platform is in the name, e.g. @swc/core-linux-arm64-musl. Without it npm would try to install the package. */
function platformEntry(name, version, dev) {
  const words = name.split(/[-/]/);
  const os = OS.find((word) => words.includes(word));
  const cpu = CPU.find((word) => words.includes(word)) ?? 'arm';
  if (!os) throw new Error(`${name}: no platform in its name; add the entry by hand`);
  const libc = words.includes('musl') || words.includes('musleabihf') ? { libc: ['musl'] } : {};
  return { version, cpu: [cpu], ...(dev ? { dev } : {}), ...libc, optional: true, os: [os] };
}

lock.packages = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => a.localeCompare(b, 'en')));
writeFileSync('npm-shrinkwrap.json', `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} entries added`);
