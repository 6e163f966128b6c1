import { jest } from '@jest/globals';
import { TASK_IDS } from '../../runtime/core/task-ids.js';
import { poisonedModel } from '../fakes/poisoned-model.js';
import { missingFor } from './ffmpeg.js';
import { fixtureSpec, serveInline } from './load.js';
import { zooModel, zooNames } from './zoo.js';

/** Networks with a weight that is NaN, whose runs end without complaint. */

jest.setTimeout(60_000);

for (const task of TASK_IDS) {
  const missing = missingFor(task);
  const run = missing === undefined ? test : test.skip;
  run(`${task}: not ready, and the reason${missing ? ` (skipped: ${missing})` : ''}`, async () => {
    const { repo } = await zooModel(task, (await zooNames(task))[0]!);
    // Durations that are none end VITS’s exports before its audio.
    const poison = task === 'text-to-speech' ? { weight: 'decoder.conv_pre.weight' } : {};
    const poisoned = await poisonedModel(repo, poison);
    const outcome = serveInline(fixtureSpec(task, 'zoo/poisoned', poisoned), poisoned).then(
      (served) => {
        served.stop();
        return 'ready';
      },
      (error: Error) => error.message,
    );
    expect(await outcome).toMatch(/the model is not loaded: .*not finite.*dtype fp32.*another dtype/);
  });
}
