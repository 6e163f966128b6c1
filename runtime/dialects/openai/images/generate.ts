import * as z from 'zod';
import { RunError } from '../../../core/errors.js';
import { base64Of } from '../../../core/media-output.js';
import { sendJson } from '../../../wire/respond.js';
import { answerAll } from '../../ask.js';
import type { DialectCall } from '../../dialect.js';
import { hint, modelField, neutral, unsupportedField } from '../../fields.js';
import { mediaOf } from '../../media.js';
import { readRequest } from '../../read-request.js';
import { requireModel } from '../../require-model.js';

export const IMAGE_TASKS = ['text-to-image'] as const;

/** POST v1/images/generations. */
export const imageBody = z.strictObject({
  model: modelField,
  prompt: z.string(),
  n: z.int().min(1).max(10).nullish(),
  size: z
    .string()
    .regex(/^(?:auto|\d{1,5}x\d{1,5})$/, 'must be as 512x512')
    .nullish()
    .describe('width x height; the model’s own by default'),
  response_format: z.enum(['b64_json'], { error: 'can only be b64_json: images are not kept' }).nullish(),
  output_format: neutral(['png'], 'images are made as PNG'),
  output_compression: neutral([100], 'PNG loses nothing'),
  background: neutral(['auto', 'opaque'], 'images have no transparent parts'),
  partial_images: neutral([0], 'images come when they are made'),
  stream: neutral([false], 'images come when they are made'),
  seed: z.int().nullish().describe('not OpenAI’s: of the first image; others count on from it'),
  negative_prompt: z.string().nullish().describe('not OpenAI’s'),
  num_inference_steps: z.int().min(1).nullish().describe('not OpenAI’s'),
  guidance_scale: z.number().min(0).nullish().describe('not OpenAI’s'),
  quality: hint('changes nothing: give num_inference_steps'),
  moderation: hint(),
  user: hint(),
  style: unsupportedField('say it in the prompt'),
});

type ImageBody = z.output<typeof imageBody>;

export async function generateImages(call: DialectCall): Promise<void> {
  const { response, host } = call;
  const given = await readRequest(call, imageBody, { tasks: IMAGE_TASKS });
  const model = requireModel(host, given.model, IMAGE_TASKS);
  const bodies = Array.from({ length: given.n ?? 1 }, (_, i) => ({
    text: given.prompt,
    params: paramsOf(given, i),
  }));
  const names = { text: 'prompt', width: 'size', height: 'size' };
  await answerAll(call, { model, bodies, names }, (answers) => {
    const data = answers.map(({ output }) => ({ b64_json: pngOf(output) }));
    const created = Math.floor(Date.now() / 1000);
    sendJson(response, 200, JSON.stringify({ created, data, output_format: 'png' }));
  });
}

/** @param index of the image: each has a seed of its own */
function paramsOf(given: ImageBody, index: number): Record<string, unknown> {
  const { seed, negative_prompt, num_inference_steps, guidance_scale, size } = given;
  const [width, height] = size == null || size === 'auto' ? [] : size.split('x').map(Number);
  const params = { negative_prompt, num_inference_steps, guidance_scale, width, height };
  const own = Object.fromEntries(Object.entries(params).filter(([, value]) => value != null));
  return seed == null ? own : { ...own, seed: seed + index };
}

function pngOf(output: unknown): string {
  const image = mediaOf(output);
  if (!image) throw new RunError('engine_failed', 'the model made no image');
  return base64Of(image.media);
}
