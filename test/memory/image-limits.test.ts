import sharp from 'sharp';
import { TASK_IDS, type TaskId } from '../../runtime/core/task-ids.js';
import { taskOf } from '../../runtime/tasks/registry.js';
import { zooModel, zooNames } from '../parity/zoo.js';
import { describeWithDocker } from '../e2e/support/engine.js';
import { docker } from '../e2e/support/process.js';
import { openWorkshop, type Workshop } from '../e2e/support/workshop.js';

const TASKS = TASK_IDS.filter((id) => {
  const { modality, blocks, profile } = taskOf(id);
  return profile === 'vision' && (blocks ?? modality) === 'image' && id !== 'image-classification';
});

async function photo(width: number, height: number): Promise<string> {
  const pixels = Buffer.alloc(width * height * 3);
  for (let i = 0; i < pixels.length; i++) pixels[i] = ((i % (3 * width)) / 24 + i / width / 48) & 255;
  const jpeg = await sharp(pixels, { raw: { width, height, channels: 3 } })
    .jpeg()
    .toBuffer();
  return jpeg.toString('base64');
}

/** As few points as there may be: the time of this test is for memory. */
const MORE: Partial<Record<TaskId, object>> = { 'mask-generation': { params: { points_per_crop: 2 } } };

describeWithDocker('a container that may use exactly the memory that was predicted', () => {
  let workshop: Workshop;
  beforeAll(async () => void (workshop = await openWorkshop()));
  afterAll(() => workshop.close());

  test.each(TASKS)(
    '%s: answers or refuses the largest images, several at a time, and lives',
    async (task) => {
      const [name] = await zooNames(task);
      const { about, repo, cases } = await zooModel(task, name!);
      const image = await workshop.build(about.id, '--task', task, '--bake', '--from', repo);
      const predicted = Number(
        await docker('inspect', '--format', '{{index .Config.Labels "io.slipway.memory"}}', image),
      );
      const limits = [`--memory=${predicted}`, `--memory-swap=${predicted}`, '--cpus', '2'];
      const container = await workshop.start(image, ['--network', 'bridge', ...limits]);
      await container.ready();
      const [usual, largest] = [await photo(4032, 3024), await photo(8160, 6120)];
      const body = { ...cases.find(({ expect_error }) => !expect_error)!.request, ...MORE[task] };
      const answers = await Promise.all(
        [usual, usual, largest, usual].map((base64) => container.run(withImage(body, base64))),
      );
      const state = await docker('inspect', '--format', '{{.State.OOMKilled}}', container.id);
      const { output } = (await (await container.request('/status')).json()) as {
        output: { engine_restarts: number };
      };
      const found = answers.map(({ status, envelope }) => `${status} ${envelope.error?.slice(0, 120) ?? ''}`);
      expect({ found, state, restarts: output.engine_restarts }).toEqual({
        found: found.map(() => expect.stringMatching(/^(?:200|413|422) /)),
        state: 'false',
        restarts: 0,
      });
      expect((await container.run(withImage(body, usual))).status).toBe(200);
      await container.remove();
    },
    240_000,
  );
});

/** The same request about another image, wherever it stands. */
function withImage(request: object, base64: string): object {
  const entries = Object.entries(request).map(([key, value]: [string, unknown]) => {
    if (key === 'base64') return [key, base64] as const;
    if (Array.isArray(value))
      return [
        key,
        value.map((item) => (typeof item === 'object' ? withImage(item as object, base64) : item)),
      ] as const;
    return [key, value] as const;
  });
  return Object.fromEntries(entries);
}
