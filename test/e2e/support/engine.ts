import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { jest } from '@jest/globals';
import { secondEngineObstacle } from './second-engine.js';

// Images are built and containers start.
jest.setTimeout(180_000);

const REQUIRED = process.env.REQUIRE_DOCKER === '1' || process.env.CI === 'true';

/** Why these tests can't run here, or undefined. */
function obstacle(): string | undefined {
  if (!existsSync('dist/builder/main.js') || !existsSync('dist/image/main.mjs')) {
    return 'nothing is built: run "npm run build"';
  }
  const info = spawnSync('docker', ['info'], { timeout: 20_000 });
  return info.status === 0 ? undefined : 'no Docker Engine answers: run "scripts/docker-engine.sh"';
}

/** A suite that needs a Docker Engine: without one it is skipped with the reason, in CI it fails. */
export function describeWithDocker(name: string, body: () => void): void {
  describeUnless(obstacle(), name, body);
}

/** A suite that starts an engine of its own beside that one. */
export function describeWithTwoEngines(name: string, body: () => void): void {
  describeUnless(obstacle() ?? secondEngineObstacle(), name, body);
}

/** A suite that starts projects with docker-compose, which is installed where it may be. */
export function describeWithCompose(name: string, body: () => void): void {
  const lacks = () => {
    const { status, stderr } = spawnSync('scripts/docker-compose.sh', { timeout: 300_000, encoding: 'utf8' });
    return status === 0 ? undefined : stderr || 'docker-compose could not be installed';
  };
  describeUnless(obstacle() ?? lacks(), name, body);
}

function describeUnless(reason: string | undefined, name: string, body: () => void): void {
  // oxlint-disable-next-line jest/valid-describe-callback -- it is one, by its type
  if (reason === undefined) return describe(name, body);
  if (!REQUIRED) {
    process.stderr.write(`skipped: ${name}: ${reason}\n`);
    // oxlint-disable-next-line jest/no-disabled-tests, jest/valid-describe-callback -- the reason has been printed, and CI does not come here
    return describe.skip(name, body);
  }
  describe(name, () => {
    test('needs what it lacks here', () => {
      throw new Error(reason);
    });
  });
}

/** Base image that scripts/arm64-engine.sh makes. */
export const ARM64_BASE = 'slipway-test/node-arm64:24';

const CANNOT_BE_HAD = 3;

/** As describeWithDocker, where arm64 containers run too; their emulation is set up where it may be. */
export function describeWithArm64(name: string, body: () => void): void {
  if (obstacle() !== undefined) return describeWithDocker(name, body);
  const env = { ...process.env, ARM64_BASE_IMAGE: ARM64_BASE };
  const { status, stderr } = spawnSync('scripts/arm64-engine.sh', {
    env,
    timeout: 300_000,
    encoding: 'utf8',
  });
  if (status === 0) return describe(name, body);
  if (status === CANNOT_BE_HAD) {
    process.stderr.write(`skipped: ${name}: ${stderr}\n`);
    // oxlint-disable-next-line jest/no-disabled-tests, jest/valid-describe-callback -- the reason has been printed; root on Debian does not come here in CI
    return describe.skip(name, body);
  }
  describe(name, () => {
    test('needs arm64 containers', () => {
      throw new Error(stderr);
    });
  });
}
