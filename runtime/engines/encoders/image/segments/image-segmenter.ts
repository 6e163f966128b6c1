import { RunError } from '../../../../core/errors.js';
import type { ImageSegmenter, SegmentedPart, SegmentOptions } from '../../../../core/handles/index.js';
import type { LoadRequest } from '../../../../core/load-request.js';
import { encodePng } from '../../../../media/encode-png.js';
import type { ProcessedImage } from '../../../processors/image/image-processor.js';
import type { Edges } from '../../../processors/image/sizes.js';
import type { Plane } from '../../../processors/image/interpolate.js';
import { labelsOf } from '../../../repository/labels.js';
import type { Json } from '../../../repository/model-folder.js';
import { type Tensors, toLogits } from '../../../sessions/tensors.js';
import { openImageModel } from '../image-model.js';
import { eomtMap } from './eomt.js';
import { foregroundImage } from './foreground.js';
import { instanceMap, sharedInstanceMap } from './instance.js';
import { panopticMap } from './panoptic.js';
import { classPlanes, enlargeMasks, type Queries, readQueries } from './queries.js';
import { rfDetrMap } from './rf-detr.js';
import { type SegmentMap, segmentPixels } from './segment-map.js';
import { semanticMap } from './semantic.js';
import { openTaskText } from './task-text.js';

/** Mask2Former's masks are enlarged to this edge first, whatever the image's size. */
const MASK_SIZES: Record<string, number> = { Mask2Former: 384 };
/** Processors for which an instance is a panoptic segment. */
const ALIKE = /^(?:Detr|ConditionalDetr)$/;

/** Processors that make segments of what a model gives; Python refuses models with another one. */
const SEGMENTING =
  /^(?:Beit|ConditionalDetr|DPT|Detr|Eomt|Mask2Former|MaskFormer|MobileNetV2|MobileViT|OneFormer|RfDetr|Sapiens2|Segformer|Tipsv2Dpt)$/;
/** What the one part of an image is called that networks without classes find. */
const FOREGROUND = 'foreground';

/**
 * *ForSemanticSegmentation, *ForInstanceSegmentation, *ForUniversalSegmentation, DetrForSegmentation; networks that transformers
 * does not have and that give one plane, which is the foreground.
 */
export async function loadImageSegmenter(request: LoadRequest): Promise<ImageSegmenter> {
  const taskText = await openTaskText(request);
  const model = await openImageModel(request, [], taskText());
  return {
    async segment(bytes, options, signal) {
      const { outputs, image } = await model.run(bytes, signal, taskText(options.subtask));
      const settings = { ...options, signal };
      const queries = readQueries(outputs);
      const planes = queries ? [] : planesOf(outputs);
      if (planes.length === 1 && !SEGMENTING.test(model.processor))
        return [await foreground(planes[0]!, image.original, settings)];
      const map = queries
        ? await queryMap(queries, image, { ...settings, processor: model.processor, outputs })
        : await planeMap(planes, image.original, settings);
      return partsOf(map, model.config, signal);
    },
  };
}

type Settings = SegmentOptions & { signal: AbortSignal };

async function queryMap(
  found: Queries,
  image: Omit<ProcessedImage, 'values'>,
  { processor, outputs, ...options }: Settings & { processor: string; outputs: Tensors },
): Promise<SegmentMap> {
  if (processor === 'RfDetr') return rfDetrMap(outputs, image.original, options);
  if (processor === 'Eomt') return eomtMap(found, image, options);
  const size = image.original;
  const { signal, subtask } = options;
  const edge = MASK_SIZES[processor];
  const queries = edge ? await enlargeMasks(found, edge, signal) : found;
  if (subtask === 'semantic') return semanticMap(await classPlanes(queries, signal), size, signal);
  if (subtask !== 'instance' || ALIKE.test(processor)) return panopticMap(queries, size, options);
  return (processor === 'OneFormer' ? sharedInstanceMap : instanceMap)(queries, size, options);
}

async function planeMap(planes: readonly Plane[], size: Edges, options: Settings): Promise<SegmentMap> {
  if (options.subtask && options.subtask !== 'semantic')
    throw otherSubtask('the model does semantic segmentation only', options.subtask);
  return semanticMap(planes, size, options.signal);
}

async function foreground(plane: Plane, size: Edges, { subtask, signal }: Settings): Promise<SegmentedPart> {
  if (subtask) throw otherSubtask('the model tells the foreground from its background', subtask);
  const png = await encodePng(await foregroundImage(plane, size, signal));
  return { label: FOREGROUND, score: undefined, png };
}

const otherSubtask = (what: string, subtask: string): RunError =>
  new RunError('unprocessable', `params.subtask: ${what}, not ${subtask}`);

async function partsOf(map: SegmentMap, config: Json, signal: AbortSignal): Promise<SegmentedPart[]> {
  const labels = labelsOf(
    config,
    map.segments.reduce((most, { label }) => Math.max(most, label + 1), 0),
  );
  const parts: SegmentedPart[] = [];
  // One after the other: each is an image of its own.
  for (const { id, label, score } of map.segments) {
    signal.throwIfAborted();
    const { width, height } = map;
    const png = await encodePng({ data: segmentPixels(map, id), width, height, channels: 1 });
    parts.push({ label: labels[label]!, score, png });
  }
  return parts;
}

/** logits [1, classes, h, w] */
function planesOf(outputs: Tensors): Plane[] {
  const logits = outputs['logits'] ?? Object.values(outputs)[0]!;
  const [classes, height, width] = [1, ...logits.dims].slice(-3) as [number, number, number];
  const values = toLogits(logits);
  return Array.from({ length: classes }, (_, label) => ({
    values: values.subarray(label * height * width, (label + 1) * height * width),
    ...{ height, width },
  }));
}
