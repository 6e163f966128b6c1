import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A model for each profile of runtime images. */
const MODELS = {
  text: ['text-classification', 'distilbert'],
  vision: ['image-classification', 'vit-tiny'],
  media: ['automatic-speech-recognition', 'whisper-en'],
};

/**
 * Builds each kind of runtime image once, in a namespace of its own. As long as they are there, the engine has their layers
 * (and the ffmpeg that it compiles for one of them) for every file that builds the same in its own namespace.
 * @returns what removes them; a build that fails is left to the tests that need it
 */
export function buildSharedImages() {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-shared-'));
  const namespace = `slipway-shared-${process.pid}`;
  for (const [task, name] of Object.values(MODELS)) {
    const from = ['--from', join('test/fixtures/zoo', task, name, 'repo'), '--task', task];
    const where = ['--namespace', namespace, '--out', folder, '--cache', join(folder, 'cache')];
    const args = ['dist/builder/main.js', 'build', `zoo-open/${name}`, ...from, ...where];
    spawnSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  }
  return () => {
    rmSync(folder, { recursive: true, force: true });
    removeImages(namespace);
  };
}

function removeImages(namespace) {
  const args = ['images', '--format', '{{.Repository}}:{{.Tag}}', '--filter', `reference=${namespace}/*`];
  const names = execFileSync('docker', args, { encoding: 'utf8' }).split('\n').filter(Boolean);
  // Models first: what others are made from can't go before them.
  const runtimeLast = names.toSorted((a, b) => a.includes('/runtime:') - b.includes('/runtime:'));
  if (names.length > 0) execFileSync('docker', ['rmi', '--force', ...runtimeLast], { stdio: 'ignore' });
}
