import { existsSync } from 'node:fs';
import { jest } from '@jest/globals';
import { play } from './play.js';
import { scheduleOf } from './schedule.js';
import { again, scheduleSeeds } from './seeds.js';
import { openWorld, type World } from './world.js';

/**
 * Downloads by processes that are killed, stopped, doubled and starved of disk, from a hub that drops, cuts, stalls,
 * alters and refuses.
 */
jest.setTimeout(30_000);

let world: World;
beforeAll(async () => {
  if (!existsSync('dist/runtime/store/weights.js')) throw new Error('nothing is built: run "npm run build"');
  world = await openWorld();
  if (typeof world.disk === 'string') process.stderr.write(`disks are never full: ${world.disk}\n`);
});
afterAll(() => world.close());

test.each(scheduleSeeds())('schedule %i', async (seed) => {
  const schedule = scheduleOf(seed);
  try {
    await play(world, schedule);
  } catch (error) {
    throw new Error(
      `${(error as Error).message}\n${again(seed)} campaign\n${JSON.stringify(schedule, null, 1)}`,
      {
        cause: error,
      },
    );
  }
});
