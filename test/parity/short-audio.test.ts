import { rm } from 'node:fs/promises';
import { plannedModel, serveInline } from './load.js';
import { zooModel } from './zoo.js';

/** Samples of 32 bits behind the header of a WAV file, of a data URL. */
const samplesOf = (output: unknown): number =>
  (Buffer.from(String(output).split(',')[1]!, 'base64').length - 44) / 4;

/** Samples of a frame, and frames that Python's generate makes of so many new tokens. */
const FRAME = 320;
const FRAMES = { 4: 4, 5: 5, 7: 4, 8: 5 };

test('few tokens: as many samples as Python makes, or a refusal by name', async () => {
  const { about, repo } = await zooModel('text-to-audio', 'musicgen-mono');
  const { spec, dir } = await plannedModel('text-to-audio', about.id, repo);
  const served = await serveInline(spec, dir);
  const run = (max_new_tokens: number) => served.run({ text: 'a piano', params: { max_new_tokens } });
  try {
    for (const [tokens, frames] of Object.entries(FRAMES)) {
      const { status, body } = await run(Number(tokens));
      expect(status).toBe(200);
      expect(samplesOf(body.output)).toBe(frames * FRAME);
    }
    for (const tokens of [1, 2, 3, 6]) {
      const error = expect.stringMatching(/^params\.max_new_tokens: .* export makes none of fewer than 4/);
      expect(await run(tokens)).toEqual({ status: 422, body: { error, output: null } });
    }
  } finally {
    served.stop();
    await rm(dir, { recursive: true });
  }
});
