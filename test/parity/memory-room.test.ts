import { rm } from 'node:fs/promises';
import sharp from 'sharp';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { missingFor } from './ffmpeg.js';
import { plannedModel, type ServedModel, serveInline } from './load.js';
import { type ZooModel, zooModels } from './zoo.js';

/** Beside what this process holds already. */
const ROOM_BYTES = 400e6;
const SECONDS = 600;
const RATE = 16_000;

/** Sixteen bits of one channel, all of them zero. */
function silence(seconds: number): Buffer {
  const bytes = 2 * RATE * seconds;
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + bytes, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(RATE, 24);
  header.writeUInt32LE(2 * RATE, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(bytes, 40);
  return Buffer.concat([header, Buffer.alloc(bytes)]);
}

const photo = () =>
  sharp({ create: { width: 2000, height: 1500, channels: 3, background: { r: 10, g: 90, b: 160 } } })
    .jpeg()
    .toBuffer();

const models = await zooModels();
const modelOf = (task: TaskId, name: string): ZooModel =>
  models.find(({ task: own, about }) => own === task && about.id.endsWith(name))!;

describe.each([
  ['depth-estimation', '/glpn', photo, /^the model reads this image as 1984 x 1472 pixels, and/],
  [
    'automatic-speech-recognition',
    '/wav2vec2-letters',
    () => silence(SECONDS),
    /^the audio has 600 s, and there is memory for \d+: send a part/,
  ],
  [
    'audio-classification',
    '/wav2vec2-bert',
    () => silence(SECONDS),
    /^the audio has 600 s, and there is memory for \d+: send a part/,
  ],
] as const)('%s: %s in little memory', (task, name, large, refusal) => {
  const suite = missingFor(task) === undefined ? test : test.skip;
  suite(
    'answers what is of usual size, and refuses what would end the process',
    async () => {
      const { about, repo, cases } = modelOf(task, name);
      const planned = await plannedModel(task, about.id, repo);
      let served: ServedModel | undefined;
      try {
        const limit = process.memoryUsage.rss() + ROOM_BYTES;
        served = await serveInline(planned.spec, planned.dir, { limit, bodies: 0 });
        const usual = cases.find(({ expect_error }) => !expect_error)!;
        expect(await served.run(usual.request)).toMatchObject({ status: 200 });
        const bytes = await large();
        expect(await served.run({ base64: bytes.toString('base64') })).toEqual({
          status: 413,
          body: { error: expect.stringMatching(refusal), output: null },
        });
      } finally {
        served?.stop();
        await rm(planned.dir, { recursive: true });
      }
      // The large inputs alone take a busy machine half a minute.
    },
    120_000,
  );
});
