import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { fixtureSpec, plannedModel, serveInline } from './load.js';
import { PYTORCH_ONLY, zooModel } from './zoo.js';

/** What single classes of diffusers' pipelines do with their configurations and parameters, beyond the reference answers. */

const TASK = 'text-to-image';
const params = { seed: 3, num_inference_steps: 2 };

/** Answers of a repository, some of whose settings are changed. */
async function answersOf(
  change: { file: string; settings: object } | undefined,
  requests: readonly object[],
): Promise<{ status: number; output: unknown }[]> {
  const { repo, about } = await zooModel(TASK, 'sd-ddim');
  const dir = await mkdtemp(join(tmpdir(), 'habits-'));
  await cp(repo, dir, { recursive: true, dereference: true });
  if (change) {
    const path = join(dir, change.file);
    const settings = JSON.parse(await readFile(path, 'utf8')) as object;
    await writeFile(path, JSON.stringify({ ...settings, ...change.settings }));
  }
  const served = await serveInline(fixtureSpec(TASK, about.id, dir), dir);
  try {
    const answers = [];
    for (const request of requests) {
      const { status, body } = await served.run(request);
      answers.push({ status, output: body.output });
    }
    return answers;
  } finally {
    served.stop();
    await rm(dir, { recursive: true });
  }
}

test('Stable Diffusion takes its own size unless both sides are given, and a text may be empty', async () => {
  const text = 'a quay';
  const [usual, half, both, empty] = await answersOf(undefined, [
    { text, params },
    { text, params: { ...params, height: 20 } },
    { text, params: { ...params, height: 24, width: 16 } },
    { text: '', params },
  ]);
  expect(usual!.status).toBe(200);
  expect(half).toEqual(usual);
  expect(both!.status).toBe(200);
  expect(both!.output).not.toBe(usual!.output);
  expect(empty!.status).toBe(200);
  expect(empty!.output).not.toBe(usual!.output);
});

test('Stable Diffusion does not read the mean and spread of channels, as SDXL does', async () => {
  const request = { text: 'a quay', params };
  const settings = { latents_mean: [1, 2, 3, 4], latents_std: [2, 2, 3, 3] };
  const plain = await answersOf(undefined, [request]);
  expect(await answersOf({ file: 'vae_decoder/config.json', settings }, [request])).toEqual(plain);
});

/** The first row of DDPMPipeline's image of seed 3, in three steps of an Euler scheduler (diffusers 0.35.2). */
const ROW = [255, 255, 104, 255, 4, 255, 255, 229, 149, 255, 0, 255, 0, 135, 81, 255];

test('DDPMPipeline scales nothing, whatever its scheduler', async () => {
  const pixels = 'unconditional-image-generation';
  const { repo, about } = await zooModel(pixels, 'ddpm-grey', PYTORCH_ONLY);
  const dir = await mkdtemp(join(tmpdir(), 'habits-'));
  await cp(repo, dir, { recursive: true, dereference: true });
  const path = join(dir, 'scheduler_config.json');
  const settings = (await readFile(path, 'utf8')).replace('DDPMScheduler', 'EulerDiscreteScheduler');
  await writeFile(path, settings);
  const planned = await plannedModel(pixels, about.id, dir);
  const served = await serveInline(planned.spec, planned.dir);
  try {
    const { body } = await served.run({ params: { seed: 3, num_inference_steps: 3 } });
    const png = Buffer.from(String(body.output).split(',')[1]!, 'base64');
    const found = await sharp(png).extractChannel(0).raw().toBuffer();
    const off = ROW.map((level, i) => Math.abs(level - found[i]!));
    expect(Math.max(...off)).toBeLessThanOrEqual(1);
  } finally {
    served.stop();
    for (const folder of [dir, planned.dir]) await rm(folder, { recursive: true });
  }
});

test.each([
  ['sd3', { height: 104 }, 'params.height'],
  ['sd3', { width: 18 }, 'params.width'],
  ['sd3', { eta: 0.5 }, 'params.eta'],
  ['flux', { guidance_rescale: 0.5 }, 'params.guidance_rescale'],
  ['sdxl', { max_sequence_length: 77 }, 'params.max_sequence_length'],
])('%s says that it can’t do %j', async (name, more, named) => {
  const { repo, about } = await zooModel(TASK, name, PYTORCH_ONLY);
  const planned = await plannedModel(TASK, about.id, repo);
  const served = await serveInline(planned.spec, planned.dir);
  try {
    const { status, body } = await served.run({ text: 'a quay', params: { ...params, ...more } });
    expect([status, body.error]).toEqual([422, expect.stringContaining(named)]);
  } finally {
    served.stop();
    await rm(planned.dir, { recursive: true });
  }
});
