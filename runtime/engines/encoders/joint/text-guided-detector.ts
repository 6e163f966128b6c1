import { RunError } from '../../../core/errors.js';
import type { Detection, TextGuidedDetector } from '../../../core/handles/index.js';
import type { LoadRequest } from '../../../core/load-request.js';
import { firstNumber } from '../../repository/model-folder.js';
import { readersIn } from '../../repository/named-readers.js';
import { contextLengthOf } from '../../repository/sequence-lengths.js';
import { type TensorLike, toFloat32, toLogits } from '../../sessions/tensors.js';
import { cornerBox, type Scale, sigmoid } from '../boxes.js';
import { openJointModel } from './joint-model.js';

/**
 * OWL-ViT and OWLv2: input_ids [labels, tokens], pixel_values -> logits [1, patches, labels], pred_boxes [1, patches, 4].
 * Grounding DINO: input_ids [1, tokens], pixel_values -> logits [1, queries, tokens], pred_boxes [1, queries, 4]. Python's pipeline
 * looks for one label at a time, as it stands; what other labels there are, and a full stop, would change what it finds.
 */
export async function loadTextGuidedDetector(request: LoadRequest): Promise<TextGuidedDetector> {
  const model = await openJointModel(request, 'logits', 'pred_boxes');
  const { config, tokenizer } = model;
  const { detector } = readersIn(request);
  // A score for each token of a text, one text with an image.
  const byTokens = detector === 'tokens';
  const most = (byTokens ? firstNumber(config, 'max_text_len') : contextLengthOf(config)) ?? Infinity;
  // OWLv2 pads images to squares, and its boxes are relative to those.
  const isSquare = detector === 'squares';
  return {
    async detect(image, labels, threshold, signal) {
      const rows = labels.map((label) => tokenizer.encode(label));
      const long = rows.find(({ ids }) => ids.length > most);
      if (long)
        throw new RunError('unprocessable', `a label has ${long.ids.length} tokens; the model takes ${most}`);
      const prepared = await model.readImage(image, signal);
      const { width, height } = prepared.original;
      const edge = Math.max(width, height);
      const scale = isSquare ? { width: edge, height: edge } : { width, height };
      const found: Detection[] = [];
      let first = 0;
      for await (const { outputs, count } of model.runTexts({
        ...{ rows, image: prepared, signal },
        ...(byTokens ? { most: 1 } : {}),
      })) {
        const logits = byTokens ? bestTokens(outputs['logits']!) : outputs['logits']!;
        found.push(
          ...detections(logits.dims[2]!, {
            logits: toLogits(logits),
            boxes: toFloat32(outputs['pred_boxes']!),
            ...{ scale, threshold: Math.fround(threshold) },
            labels: labels.slice(first, first + count),
          }),
        );
        first += count;
      }
      return found.sort((a, b) => b.score - a.score);
    },
  };
}

/** [1, queries, tokens] -> [1, queries, 1] */
function bestTokens(logits: TensorLike): TensorLike {
  const [queries, tokens] = logits.dims.slice(-2) as [number, number];
  const values = toLogits(logits);
  const data = Float32Array.from({ length: queries }, (_, query) =>
    values
      .subarray(query * tokens, (query + 1) * tokens)
      .reduce((best, value) => Math.max(best, value), -Infinity),
  );
  return { type: 'float32', data, dims: [1, queries, 1] };
}

interface Found {
  /** [patches, labels] */
  logits: Float32Array;
  /** [patches, 4] */
  boxes: Float32Array;
  scale: Scale;
  threshold: number;
  labels: readonly string[];
}

/** Rows label by label. Sorted by their scores, of equal ones the earlier label and patch comes first. */
function detections(columns: number, { logits, boxes, scale, threshold, labels }: Found): Detection[] {
  const rows: Detection[] = [];
  for (const [column, label] of labels.entries()) {
    for (let patch = 0; patch < logits.length / columns; patch++) {
      const score = sigmoid(logits[patch * columns + column]!);
      if (score > threshold) rows.push({ score, label, box: cornerBox(boxes, patch, scale) });
    }
  }
  return rows;
}
