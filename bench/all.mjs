/** Runs every bench, one after the other: `make bench`. Ends with 1 when one of them missed a limit. */
import { spawnSync } from 'node:child_process';

for (const name of ['size', 'memory', 'latency']) {
  console.log(`\n${name}`);
  const { status } = spawnSync(process.execPath, [`bench/${name}.mjs`], { stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
