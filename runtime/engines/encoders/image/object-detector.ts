import type { Detection, ObjectDetector } from '../../../core/handles/index.js';
import type { LoadRequest } from '../../../core/load-request.js';
import { labelsOf } from '../../repository/labels.js';
import { toFloat32, toLogits } from '../../sessions/tensors.js';
import { cornerBox } from '../boxes.js';
import { bestOfAll, bestOfQuery, type Candidate } from './detections/candidates.js';
import { LAYOUTS } from './detections/layouts.js';
import { openImageModel } from './image-model.js';

/** What logits [queries, classes] mean. */
type ReadLogits = (logits: Float32Array, classes: number) => Iterable<Candidate>;

/** Rows of the models that score each class by itself. */
const TOP = 100;

/** As many rows as queries. */
const bestOfQueries: ReadLogits = (logits, classes) => bestOfAll(logits, classes, logits.length / classes);

const READERS: Record<string, ReadLogits> = {
  ConditionalDetr: (logits, classes) => bestOfAll(logits, classes, TOP),
  DeformableDetr: (logits, classes) => bestOfAll(logits, classes, TOP),
  RTDetr: bestOfQueries,
  RfDetr: bestOfQueries,
};

/** *ForObjectDetection: pixel_values (pixel_mask) -> logits [1, queries, classes], pred_boxes [1, queries, 4]. */
export async function loadObjectDetector(request: LoadRequest): Promise<ObjectDetector> {
  const model = await openImageModel(request, ['logits', 'pred_boxes']);
  const layout = LAYOUTS[model.processor];
  const read = layout ? bestOfQueries : (READERS[model.processor] ?? bestOfQuery);
  if (layout) model.require(layout.needed);
  const boxOf = layout?.box ?? cornerBox;
  return {
    async detect(bytes, threshold, signal) {
      const { outputs, image } = await model.run(bytes, signal);
      const classes = outputs['logits']!.dims.at(-1)!;
      const boxes = toFloat32(outputs['pred_boxes']!);
      const labels = labelsOf(model.config, classes);
      const least = Math.fround(threshold);
      const isKept = ({ score }: Candidate) => (layout ? score >= least : score > least);
      const kept = [...read(toLogits(outputs['logits']!), classes)].filter(isKept);
      return (layout?.sorted(kept, outputs) ?? kept).map(({ query, label, score }): Detection => ({
        ...{ score, label: labels[label]! },
        box: boxOf(boxes, query, image.original),
      }));
    },
  };
}
