import type { Head } from '../../../runtime/core/handles/index.js';
import { processedEdges } from '../../plan/vision/image-edges.js';
import type { ExportRecipe, Sizes } from '../types.js';
import { type Json, number } from './config.js';

/** Class and outputs of heads that read one image. */
const HEADS: Partial<Record<Head, Pick<ExportRecipe, 'class' | 'outputs' | 'mayMiss'>>> = {
  'image-classification': { class: 'AutoModelForImageClassification', outputs: ['logits'], mayMiss: [] },
  'image-features': { class: 'AutoModel', outputs: ['last_hidden_state', 'pooler_output'], mayMiss: [] },
  'object-detection': {
    ...{ class: 'AutoModelForObjectDetection', outputs: ['logits', 'pred_boxes'], mayMiss: [] },
  },
  'depth-estimation': {
    ...{ class: 'AutoModelForDepthEstimation', outputs: ['predicted_depth', 'field_of_view'], mayMiss: [] },
  },
};

const TRACED: Sizes = { rows: 2 };
const PROBES: readonly Sizes[] = [{ rows: 1 }, { rows: 3 }];

/** Images to tell by whether the processor makes all of one size. */
const [WIDE, TALL] = [
  { height: 600, width: 1000 },
  { height: 900, width: 500 },
];

/**
 * The graph reads images of the size that the repository's processor makes, and no others.
 * @param processing preprocessor_config.json
 */
export function imageRecipe(
  head: Head,
  config: Json,
  processing: Json,
): Omit<ExportRecipe, 'modelType'> | string | undefined {
  const about =
    head === 'image-segmentation' ? segmentation(config) : (layoutOf(head, config) ?? HEADS[head]);
  if (about === undefined || typeof about === 'string') return about;
  const size = imageSize(config, processing);
  if (typeof size === 'string')
    return ANY_SIZE.has(String(config.model_type)) ? ofAnySize(about, config, processing) : size;
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

/** What parts of a page are sorted by. */
const ORDERS: Readonly<Record<string, readonly string[]>> = {
  pp_doclayout_v2: ['order_logits'],
  pp_doclayout_v3: ['order_logits'],
  pp_doclayout_v4: ['relative_order_logits', 'successor_order_logits'],
};

function layoutOf(head: Head, { model_type: type }: Json): (typeof HEADS)[Head] {
  const [about, order] = [HEADS[head], ORDERS[String(type)]];
  if (head !== 'object-detection' || !about || !order) return undefined;
  return { ...about, outputs: [...about.outputs, ...order] };
}

/** Networks of convolutions alone, whose graphs read images of any size. */
const ANY_SIZE = new Set(['textnet']);

/** The same for several sizes, as the processor makes them of images of two proportions. */
function ofAnySize(
  about: NonNullable<(typeof HEADS)[Head]>,
  config: Json,
  processing: Json,
): Omit<ExportRecipe, 'modelType'> {
  const [wide, tall] = [WIDE, TALL].map((image) => ({ ...processedEdges(config, processing, image) }));
  const square = processedEdges(config, processing, { height: 640, width: 640 });
  return {
    ...about,
    config: {},
    inputs: {
      pixel_values: { kind: 'noise', axes: ['rows', number(config['num_channels']) ?? 3, 'height', 'width'] },
    },
    free: ['rows', 'height', 'width'],
    traced: { rows: 2, ...wide! },
    probes: [
      { rows: 1, ...tall! },
      { rows: 3, ...wide! },
      { rows: 1, ...square },
    ],
  };
}

/** For networks that keep the number of images of their sample: one a run. @returns undefined for what reads no images alone */
export function ofOneRow(recipe: ExportRecipe): ExportRecipe | undefined {
  if (recipe.part || Object.keys(recipe.inputs).join() !== 'pixel_values') return undefined;
  return { ...recipe, free: [], traced: { rows: 1 }, probes: [{ rows: 1 }, { rows: 1 }] };
}

/** By the end of a class's name: which class each pixel has, or masks of queries, of which a processor makes segments. */
const SEGMENTATIONS: readonly [string, NonNullable<(typeof HEADS)[Head]>][] = [
  [
    'ForSemanticSegmentation',
    { class: 'AutoModelForSemanticSegmentation', outputs: ['logits'], mayMiss: [] },
  ],
  [
    'ForUniversalSegmentation',
    {
      ...{ class: 'AutoModelForUniversalSegmentation', mayMiss: [] },
      outputs: ['class_queries_logits', 'masks_queries_logits'],
    },
  ],
];

function segmentation({ architectures, model_type: type }: Json): (typeof HEADS)[Head] | string {
  const [name] = Array.isArray(architectures) ? (architectures as unknown[]) : [];
  const found = SEGMENTATIONS.find(([end]) => String(name).endsWith(end))?.[1];
  if (!found) return 'its kind of segmentation has no recipe';
  return type === 'oneformer' ? 'it reads its task as a text' : found;
}

/** What the processor makes of any image; a text where it makes several sizes. */
export function imageSize(
  config: Json,
  processing: Json,
): { channels: number; height: number; width: number } | string {
  const [size, other] = [WIDE, TALL].map((image) => processedEdges(config, processing, image));
  if (size!.height !== other!.height || size!.width !== other!.width)
    return 'its processor makes images of several sizes, and an exported graph reads one';
  return { channels: number(config['num_channels']) ?? 3, ...size! };
}
