import type { Detection, ObjectDetector } from '../../../core/handles/index.js';
import type { LoadRequest } from '../../../core/load-request.js';
import { labelsOf } from '../../repository/labels.js';
import { toFloat32, toLogits } from '../../sessions/tensors.js';
import { cornerBox, sigmoid } from '../boxes.js';
import { probabilities } from '../probabilities.js';
import { openImageModel } from './image-model.js';

/** A query of the model and the class that it may be, with its score. */
interface Candidate {
  query: number;
  label: number;
  score: number;
}

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
  const read = READERS[model.processor] ?? bestOfQuery;
  return {
    async detect(bytes, threshold, signal) {
      const { outputs, image } = await model.run(bytes, signal);
      const classes = outputs['logits']!.dims.at(-1)!;
      const boxes = toFloat32(outputs['pred_boxes']!);
      const labels = labelsOf(model.config, classes);
      const least = Math.fround(threshold);
      const rows: Detection[] = [];
      for (const { query, label, score } of read(toLogits(outputs['logits']!), classes)) {
        if (score > least)
          rows.push({ score, label: labels[label]!, box: cornerBox(boxes, query, image.original) });
      }
      return rows;
    },
  };
}

/** DETR: one class for each query, in their order. The last class stands for "nothing", and is never taken. */
function* bestOfQuery(logits: Float32Array, classes: number): Generator<Candidate> {
  for (let query = 0; query < logits.length / classes; query++) {
    const row = logits.subarray(query * classes, (query + 1) * classes);
    let label = 0;
    for (let i = 1; i < classes - 1; i++) if (row[i]! > row[label]!) label = i;
    yield { query, label, score: probabilities(row)[label]! };
  }
}

/** The best pairs of query and class, best first: a query may have several classes. */
function bestOfAll(logits: Float32Array, classes: number, count: number): Candidate[] {
  const all = Array.from(logits, (logit, i) => ({
    query: Math.floor(i / classes),
    label: i % classes,
    score: sigmoid(logit),
  }));
  return all.sort((a, b) => b.score - a.score).slice(0, count);
}
