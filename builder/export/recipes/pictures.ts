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
  const about = HEADS[head];
  if (!about) return undefined;
  const [size, other] = [WIDE, TALL].map((picture) => processedEdges(config, processing, picture));
  if (size!.height !== other!.height || size!.width !== other!.width)
    return 'its processor makes pictures of several sizes, and an exported graph reads one';
  const channels = number(config['num_channels']) ?? 3;
  return {
    ...about,
    config: {},
    inputs: {
      pixel_values: { kind: 'noise', axes: ['rows', channels, size!.height, size!.width] },
    },
    free: ['rows'],
    ...{ traced: TRACED, probes: PROBES },
  };
}
