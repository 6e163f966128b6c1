import { TASK_IDS } from '../../runtime/core/task-ids.js';
import { AUDIO_FORMATS } from '../../runtime/core/audio-formats.js';
import { taskOf } from '../../runtime/tasks/registry.js';
import { difference } from '../parity/difference.js';
import { zooModel, zooNames } from '../parity/zoo.js';
import type { TestContainer } from './support/container.js';
import { describeWithDocker } from './support/engine.js';
import { openWorkshop, type Workshop } from './support/workshop.js';

const TASKS = TASK_IDS.filter((id) => taskOf(id).profile !== 'text' || taskOf(id).makes !== undefined);

/** The first image for audio or video compiles its ffmpeg. */
const BUILD_MS = 20 * 60_000;

/** The ffmpeg of the image writes each format. */
async function asksForFormats(container: TestContainer, request: Record<string, unknown>): Promise<void> {
  for (const format of AUDIO_FORMATS) {
    const params = { ...(request['params'] as object | undefined), format };
    const { status, envelope } = await container.run({ ...request, params });
    expect({ format, status, error: envelope.error }).toEqual({ format, status: 200, error: null });
    expect(envelope.output).toMatch(/^data:audio\/(?:mpeg|ogg|aac|flac);base64,/);
  }
}

describeWithDocker('an image of each task that reads or makes images, audio or video', () => {
  let workshop: Workshop;
  beforeAll(async () => void (workshop = await openWorkshop()));
  afterAll(() => workshop.close());

  test.each(TASKS)(
    '%s: every model’s cases are answered as the reference answers them',
    async (task) => {
      for (const name of await zooNames(task)) {
        const { about, repo, cases } = await zooModel(task, name);
        const image = await workshop.build(about.id, '--task', task, '--bake', '--from', repo);
        const container = await workshop.start(image, [
          '--network',
          'bridge',
          '--read-only',
          '--cap-drop',
          'ALL',
        ]);
        await container.ready();
        for (const { request, expect: wanted, expect_error, compare, name: title } of cases) {
          const { status, envelope } = await container.run(request);
          if (expect_error) expect({ title, client: Math.floor(status / 100) }).toEqual({ title, client: 4 });
          else {
            expect({ title, status, error: envelope.error }).toEqual({ title, status: 200, error: null });
            expect(await difference(envelope.output, wanted, compare)).toBeNull();
          }
        }
        if (taskOf(task).makes === 'audio') await asksForFormats(container, cases[0]!.request);
        await container.remove();
      }
    },
    BUILD_MS,
  );
});
