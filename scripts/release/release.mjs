/**
 * Makes what a release consists of, below dist/release: the npm package, runtime images as archives, a bill of materials for each,
 * checksums of all and their signature.
 * Then tries the package as a user does: installed into an empty place, both commands, an answer of the demo model.
 * Usage: node scripts/release/release.mjs [--rehearse] [--without-images] [--write-sizes]
 * With --rehearse a key of its own signs, nothing has to be committed, and nothing outside of dist/release and a temporary
 * folder is written. Without it, RELEASE_KEY names the private key (builder keygen), and CHANGELOG.md has the version.
 */
import { execFileSync, spawn } from 'node:child_process';
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  verify,
} from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProblems } from './find-problems.mjs';
import { grownSizes } from './grown-sizes.mjs';
import { releaseImages, writeSizes } from './images.mjs';

const isRehearsal = process.argv.includes('--rehearse');
const place = 'dist/release';
const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'));

const say = (line) => process.stderr.write(`release: ${line}\n`);
const npm = (...args) => execFileSync('npm', args, { encoding: 'utf8', maxBuffer: 2 ** 28 });

function stop(lines) {
  for (const line of lines) say(line);
  process.exit(1);
}

/** Packs what is built. @returns the file's name and what is in it */
function pack() {
  const [{ filename, files, unpackedSize }] = JSON.parse(
    npm('pack', '--ignore-scripts', '--json', '--pack-destination', place),
  );
  return { filename, files, unpackedSize };
}

/** CycloneDX, of what users get: the dependencies of the lock file without those of development. */
function writeBill() {
  const bill = npm('sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only');
  const file = `${name}-${version}.cdx.json`;
  writeFileSync(join(place, file), bill);
  return JSON.parse(bill).components.length;
}

function signatureKey() {
  if (process.env.RELEASE_KEY)
    return createPrivateKey({
      key: readFileSync(process.env.RELEASE_KEY),
      passphrase: process.env.RELEASE_PASSPHRASE,
    });
  if (!isRehearsal) stop(['RELEASE_KEY must name the private key that signs (builder keygen makes one)']);
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
}

/** SHA256SUMS as sha256sum reads it, its signature, and the public key, which openssl verifies it with. */
function signAll() {
  const sums = readdirSync(place)
    .toSorted()
    .map(
      (file) =>
        `${createHash('sha256')
          .update(readFileSync(join(place, file)))
          .digest('hex')}  ${file}\n`,
    )
    .join('');
  const key = signatureKey();
  const signature = sign('sha256', Buffer.from(sums), key);
  const publicKey = createPublicKey(key);
  writeFileSync(join(place, 'SHA256SUMS'), sums);
  writeFileSync(join(place, 'SHA256SUMS.sig'), signature);
  writeFileSync(join(place, 'release.pub'), publicKey.export({ type: 'spki', format: 'pem' }));
  execFileSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: place, stdio: 'inherit' });
  if (!verify('sha256', readFileSync(join(place, 'SHA256SUMS')), publicKey, signature))
    stop(['the signature is wrong']);
}

/** Installs the tarball below a place of its own, and asks both commands. */
async function tryPackage(tarball) {
  const prefix = mkdtempSync(join(tmpdir(), 'slipway-release-'));
  try {
    npm('install', '--global', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', prefix, tarball);
    const command = (tool) => join(prefix, 'bin', tool);
    for (const tool of ['builder', 'gateway']) {
      const said = execFileSync(command(tool), ['--version'], { encoding: 'utf8' }).trim();
      if (said !== version) stop([`${tool} of the tarball says version ${said}, not ${version}`]);
    }
    await tryDemo(command('builder'), prefix);
  } finally {
    rmSync(prefix, { recursive: true, force: true });
  }
}

const START_MS = 60_000;

async function tryDemo(builder, home) {
  const port = 18_000 + (process.pid % 10_000);
  const server = spawn(builder, ['serve', '--demo', '--port', String(port)], {
    env: { ...process.env, HOME: home },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  try {
    const until = Date.now() + START_MS;
    for (;;) {
      const answer = await ask(port).catch(() => undefined);
      if (answer?.error === null) return say(`the demo model answers: ${answer.output.slice(0, 60)}`);
      if (server.exitCode !== null || Date.now() > until)
        stop(['the demo model of the tarball does not answer']);
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  } finally {
    server.kill();
  }
}

async function ask(port) {
  const response = await fetch(`http://127.0.0.1:${port}/run`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ text: 'The harbour', params: { max_new_tokens: 8 } }),
  });
  return response.json();
}

/** The images that can be made here; without --rehearse all have to be. */
async function makeImages() {
  const cache = mkdtempSync(join(tmpdir(), 'slipway-release-cache-'));
  try {
    const { sizes, left } = await releaseImages({ place, version, cache, say });
    for (const line of left) say(line);
    if (process.argv.includes('--write-sizes')) return writeSizes(sizes, left);
    const grown = grownSizes(sizes, readFileSync('docs/sizes.md', 'utf8'));
    if (grown.length > 0) stop([...grown, 'if that is meant: make release-check SIZES=write']);
  } finally {
    rmSync(cache, { recursive: true, force: true });
  }
}

const inMb = (bytes) => `${(bytes / 1e6).toFixed(2)} MB`;

const problems = findProblems({ version, isRehearsal });
if (problems.length > 0) stop(problems);
rmSync(place, { recursive: true, force: true });
mkdirSync(place, { recursive: true });
const { filename, files, unpackedSize } = pack();
const strange = files.filter(({ path }) =>
  /(?:^|\/)(?:test|\.cache|node_modules)\/|\.map$|\.test\./.test(path),
);
if (strange.length > 0) stop(strange.map(({ path }) => `the package holds ${path}`));
const components = writeBill();
if (!process.argv.includes('--without-images')) await makeImages();
signAll();
await tryPackage(join(place, filename));
const size = statSync(join(place, filename)).size;
say(
  `${filename}: ${files.length} files, ${inMb(size)}, ${inMb(unpackedSize)} unpacked; ${components} components in its bill`,
);
process.stdout.write(`${place}\n`);
