import { RunError } from '../../../../core/errors.js';
import type { ImageSegmenter, SegmentedPart, SegmentOptions } from '../../../../core/handles/index.js';
import type { LoadRequest } from '../../../../core/load-request.js';
import { encodePng } from '../../../../media/encode-png.js';
import type { Edges } from '../../../processors/image/sizes.js';
import type { Plane } from '../../../processors/image/interpolate.js';
import { labelsOf } from '../../../repository/labels.js';
import { type Tensors, toFloat32 } from '../../../sessions/tensors.js';
import { openImageModel } from '../image-model.js';
import { instanceMap } from './instance.js';
import { panopticMap } from './panoptic.js';
import { classPlanes, type Queries, readQueries } from './queries.js';
import { type SegmentMap, segmentPixels } from './segment-map.js';
import { semanticMap } from './semantic.js';

/** Mask2Former's masks are enlarged to this edge first, whatever the picture's size. */
const MASK_SIZES: Record<string, number> = { Mask2Former: 384 };
/** Processors for which an instance is a panoptic segment. */
const ALIKE = /^(?:Detr|ConditionalDetr)$/;

/** *ForSemanticSegmentation, *ForInstanceSegmentation, *ForUniversalSegmentation, DetrForSegmentation. */
export async function loadImageSegmenter(request: LoadRequest): Promise<ImageSegmenter> {
  const model = await openImageModel(request);
  const segment = async (outputs: Tensors, size: Edges, options: Settings): Promise<SegmentMap> => {
    const queries = readQueries(outputs, MASK_SIZES[model.processor]);
    const subtask = options.subtask ?? (queries ? 'panoptic' : 'semantic');
    if (subtask === 'semantic')
      return semanticMap(queries ? classPlanes(queries) : planesOf(outputs), size, options.signal);
    return byQueries(requireQueries(queries, subtask), size, {
      ...options,
      alike: ALIKE.test(model.processor),
      subtask,
    });
  };
  return {
    async segment(bytes, options, signal) {
      const { outputs, image } = await model.run(bytes, signal);
      const map = await segment(outputs, image.original, { ...options, signal });
      const labels = labelsOf(
        model.config,
        map.segments.reduce((most, { label }) => Math.max(most, label + 1), 0),
      );
      const parts: SegmentedPart[] = [];
      // One after the other: each is a picture of its own.
      for (const { id, label, score } of map.segments) {
        signal.throwIfAborted();
        const { width, height } = map;
        const png = await encodePng({ data: segmentPixels(map, id), width, height, channels: 1 });
        parts.push({ label: labels[label]!, score, png });
      }
      return parts;
    },
  };
}

type Settings = SegmentOptions & { signal: AbortSignal };

async function byQueries(
  queries: Queries,
  size: Edges,
  { subtask, alike, ...options }: Settings & { alike: boolean },
): Promise<SegmentMap> {
  return subtask === 'instance' && !alike
    ? instanceMap(queries, size, options)
    : panopticMap(queries, size, options);
}

function requireQueries(queries: Queries | undefined, subtask: string): Queries {
  if (queries) return queries;
  throw new RunError(
    'unprocessable',
    `params.subtask: the model does semantic segmentation only, not ${subtask}`,
  );
}

/** logits [1, classes, h, w] */
function planesOf(outputs: Tensors): Plane[] {
  const logits = outputs['logits'] ?? Object.values(outputs)[0]!;
  const [classes, height, width] = logits.dims.slice(-3) as [number, number, number];
  const values = toFloat32(logits);
  return Array.from({ length: classes }, (_, label) => ({
    values: values.subarray(label * height * width, (label + 1) * height * width),
    ...{ height, width },
  }));
}
