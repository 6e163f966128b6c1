import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system of its own, small enough to be filled. */
export interface SmallDisk {
  dir: string;
  fill(): void;
  free(): void;
  close(): void;
}

/** @returns the reason where none can be had: mounting takes root */
export function openSmallDisk(megabytes: number): SmallDisk | string {
  const dir = mkdtempSync(join(tmpdir(), 'small-disk-'));
  const { status, stderr, error } = spawnSync('mount', [
    '-t',
    'tmpfs',
    '-o',
    `size=${megabytes}m`,
    'tmpfs',
    dir,
  ]);
  if (status !== 0) {
    rmSync(dir, { recursive: true });
    return `no small file system can be mounted: ${error?.message ?? String(stderr).trim()}`;
  }
  const ballast = join(dir, 'ballast');
  return {
    dir,
    fill: () => writeUntilFull(ballast),
    free: () => rmSync(ballast, { force: true }),
    close() {
      spawnSync('umount', ['--lazy', dir]);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function writeUntilFull(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (const zeros = Buffer.alloc(65_536); ;) writeSync(file, zeros);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(file);
  }
}
