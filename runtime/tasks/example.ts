import { mapMessageMedia } from '../core/message-media.js';
import type { AnyTask } from './define.js';
import { sampleClip } from './sample-clip.js';
import { sampleAudio } from './sample-audio.js';

/** A 32 x 32 grey-scale ramp as PNG in Base64. */
export const IMAGE = [
  'iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAAAAABWESUoAAABaUlEQVR42mNgYOXiF5GUU9bQNTK3cXTzDgiNik/JzCuuqG1q75k4',
  'bTYDMwevkLiMopq2gamVvYunX3BEbFJ6TmFZdUNrV/+UmfMY2LgFRKXkVTT1jC1sndx9AsOiE1Kz8ksq65o7eidNn7OQgZNPWEJW',
  'SV3H0MzawdXLPyQyLjkjt6i8prGte8LUWfOXMPAIikkrqGrpm1jaOXv4BoXHJKZlF5RW1bd09k2eMXfRcga8LlywdBUDXhcuXrGW',
  'Aa8Ll63ewIDXhSvXbWbA68I1G7cx4HXh+i07GfC6cNP2PQx4Xbh1134GvC7csfcQA14X7j5wlAGvC/cdPsGA14UHj51mwOvCIyfP',
  'MeB14fEzFxnwuvDU+SsMeF149tJ1BrwuvHD1FgNeF16+cZcBrwuv3X7AgNeFN+89ZsDrwjsPnzHgdeH9Jy8Z8Lrw0fM3DHhd+PTV',
  'ewa8Lnzx9hMDXhe+/vCVAa8L333+AQCv7PAQ9BjHwAAAAABJRU5ErkJggg==',
].join('');

type ExampleOf = Pick<AnyTask, 'example' | 'modality' | 'blocks'>;

/** A small medium of the kind that the task takes, in Base64. */
export function sampleMedium({ modality, blocks }: Omit<ExampleOf, 'example'>): SampleMedium {
  const kind = blocks ?? modality;
  if (kind === 'audio') return { base64: sampleAudio(), mediaType: 'audio/wav' };
  if (kind === 'video') return { base64: sampleClip(), mediaType: 'image/gif' };
  return { base64: IMAGE, mediaType: 'image/png' };
}

export interface SampleMedium {
  base64: string;
  mediaType: string;
}

/** The task's example as a request without web addresses: media are given in Base64 instead. */
export function runnableExample(task: ExampleOf): Record<string, unknown> {
  const { url, base64, ...rest } = task.example;
  const medium = { base64: sampleMedium(task).base64 };
  if (rest['messages']) return { ...rest, messages: mapMessageMedia(rest['messages'], () => medium) };
  return url === undefined && base64 === undefined ? rest : { ...medium, ...rest };
}
