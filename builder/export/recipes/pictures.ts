import type { Head } from '../../../runtime/core/handles/index.js';
import { processedEdges } from '../../plan/pictures/picture-edges.js';
import type { ExportRecipe, Sizes } from '../types.js';
import { type Json, number } from './config.js';

/** Class and outputs of heads that read one picture. */
const HEADS: Partial<Record<Head, Pick<ExportRecipe, 'class' | 'outputs' | 'mayMiss'>>> = {
  'image-classification': { class: 'AutoModelForImageClassification', outputs: ['logits'], mayMiss: [] },
  'image-features': { class: 'AutoModel', outputs: ['last_hidden_state', 'pooler_output'], mayMiss: [] },
  'object-detection': {
    ...{ class: 'AutoModelForObjectDetection', outputs: ['logits', 'pred_boxes'], mayMiss: [] },
  },
  'depth-estimation': { class: 'AutoModelForDepthEstimation', outputs: ['predicted_depth'], mayMiss: [] },
};

const TRACED: Sizes = { rows: 2 };
const PROBES: readonly Sizes[] = [{ rows: 1 }, { rows: 3 }];

/** Pictures to tell by whether the processor makes all of one size. */
const [WIDE, TALL] = [
  { height: 600, width: 1000 },
  { height: 900, width: 500 },
];

/**
 * The graph reads pictures of the size that the repository's processor makes, and no others.
 * @param processing preprocessor_config.json
 */
export function pictureRecipe(
  head: Head,
  config: Json,
  processing: Json,
): Omit<ExportRecipe, 'modelType'> | string | undefined {
  const about = head === 'image-segmentation' ? segmentation(config) : HEADS[head];
  if (about === undefined || typeof about === 'string') return about;
  const size = pictureSize(config, processing);
  if (typeof size === 'string') return size;
  return {
    ...about,
    config: {},
    inputs: {
      pixel_values: { kind: 'noise', axes: ['rows', size.channels, size.height, size.width] },
    },
    free: ['rows'],
    ...{ traced: TRACED, probes: PROBES },
  };
}

/** Which class of a picture each pixel has; other segmentations give masks of queries, and differ by family. */
function segmentation({ architectures }: Json): (typeof HEADS)[Head] | string {
  const [name] = Array.isArray(architectures) ? (architectures as unknown[]) : [];
  if (!String(name).endsWith('ForSemanticSegmentation')) return 'only semantic segmentation has a recipe';
  return { class: 'AutoModelForSemanticSegmentation', outputs: ['logits'], mayMiss: [] };
}

/** What the processor makes of any picture; a text where it makes several sizes. */
export function pictureSize(
  config: Json,
  processing: Json,
): { channels: number; height: number; width: number } | string {
  const [size, other] = [WIDE, TALL].map((picture) => processedEdges(config, processing, picture));
  if (size!.height !== other!.height || size!.width !== other!.width)
    return 'its processor makes pictures of several sizes, and an exported graph reads one';
  return { channels: number(config['num_channels']) ?? 3, ...size! };
}
