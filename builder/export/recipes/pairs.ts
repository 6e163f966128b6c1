import type { Head } from '../../../runtime/core/handles/index.js';
import type { ExportRecipe, SampleInput, Sizes } from '../types.js';
import { type Json, number, numbersNamed } from './config.js';
import { imageSize } from './images.js';

const [TEXT, IMAGE] = [['texts', 'length'] as const, 'images'];
const TRACED: Sizes = { texts: 2, length: 12, images: 2 };
const PROBES: readonly Sizes[] = [
  { texts: 1, length: 7, images: 1 },
  { texts: 3, length: 16, images: 1 },
  { texts: 4, length: 9, images: 2 },
];
/** Where the sample's texts end: some networks look for the token that ends them. */
const END = 4;

/** Images against texts: any number of either. @returns undefined for other heads */
export function pairRecipe(
  head: Head,
  config: Json,
  processing: Json,
): Omit<ExportRecipe, 'modelType'> | string | undefined {
  if (head !== 'image-text-matching') return undefined;
  const size = imageSize(config, processing);
  if (typeof size === 'string') return size;
  const text = (config['text_config'] ?? {}) as Json;
  const vocabulary = number(text['vocab_size']);
  if (vocabulary === undefined || vocabulary < 8) return 'config.json says no text_config.vocab_size';
  const end = number(text['eos_token_id']);
  const kinds = number(text['type_vocab_size']) ?? 0;
  const segments: Record<string, SampleInput> =
    kinds > 1 ? { token_type_ids: { kind: 'zeros', axes: TEXT, optional: true } } : {};
  return {
    ...{ class: 'AutoModelForZeroShotImageClassification', config: {}, mayMiss: [] },
    outputs: ['logits_per_image', 'text_embeds', 'image_embeds'],
    inputs: {
      input_ids: {
        ...{ kind: 'tokens', axes: TEXT, low: Math.floor(vocabulary / 4), high: vocabulary },
        avoid: numbersNamed(text, /_token_id$/),
        fixed: end !== undefined && end < vocabulary ? [[END, end]] : [],
        pad: number(text['pad_token_id']) ?? 0,
      },
      attention_mask: { kind: 'mask', axes: TEXT, optional: true },
      ...segments,
      pixel_values: { kind: 'noise', axes: [IMAGE, size.channels, size.height, size.width] },
    },
    free: [...TEXT, IMAGE],
    ...{ traced: TRACED, probes: PROBES },
  };
}
