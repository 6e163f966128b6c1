import type { AnyTask, Resolved } from '../tasks/define.js';

/** A 32 x 32 grey-scale ramp as PNG: what a picture task is tried with before the first request. */
const PICTURE = Buffer.from(
  [
    'iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAAAAABWESUoAAABaUlEQVR42mNgYOXiF5GUU9bQNTK3cXTzDgiNik/JzCuuqG1q75k4',
    'bTYDMwevkLiMopq2gamVvYunX3BEbFJ6TmFZdUNrV/+UmfMY2LgFRKXkVTT1jC1sndx9AsOiE1Kz8ksq65o7eidNn7OQgZNPWEJW',
    'SV3H0MzawdXLPyQyLjkjt6i8prGte8LUWfOXMPAIikkrqGrpm1jaOXv4BoXHJKZlF5RW1bd09k2eMXfRcga8LlywdBUDXhcuXrGW',
    'Aa8Ll63ewIDXhSvXbWbA68I1G7cx4HXh+i07GfC6cNP2PQx4Xbh1134GvC7csfcQA14X7j5wlAGvC/cdPsGA14UHj51mwOvCIyfP',
    'MeB14fEzFxnwuvDU+SsMeF149tJ1BrwuvHD1FgNeF16+cZcBrwuv3X7AgNeFN+89ZsDrwjsPnzHgdeH9Jy8Z8Lrw0fM3DHhd+PTV',
    'ewa8Lnzx9hMDXhe+/vCVAa8L333+AQCv7PAQ9BjHwAAAAABJRU5ErkJggg==',
  ].join(''),
  'base64',
);

/**
 * The request that must succeed before a model counts as ready: the task's example, with a synthetic picture for its
 * media and as little generation as possible.
 */
export function goldenInput(task: AnyTask): Resolved<unknown> {
  const { url, base64, params, ...rest } = task.example;
  const media = url === undefined && base64 === undefined ? {} : { base64: PICTURE.toString('base64') };
  const short = task.streams ? { params: { ...(params as object), max_new_tokens: 2 } } : { params };
  const parsed = task.input.parse({ ...rest, ...media, ...short }) as Record<string, unknown>;
  delete parsed['base64'];
  return { ...parsed, media: { bytes: PICTURE, mediaType: 'image/png' } };
}
