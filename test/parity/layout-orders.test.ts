import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bestOfAll } from '../../runtime/engines/encoders/image/detections/candidates.js';
import { LAYOUTS } from '../../runtime/engines/encoders/image/detections/layouts.js';
import type { Tensors } from '../../runtime/engines/sessions/tensors.js';

interface Row {
  processor: string;
  threshold: number;
  outputs: Record<string, { dims: number[]; values: number[] }>;
  /** Score, label and box. */
  expect: [number, number, number[]][];
}

/** scripts/fixtures/layout_orders.py */
const rows = JSON.parse(
  readFileSync(join(import.meta.dirname, '../fixtures/layout-orders.json'), 'utf8'),
) as Row[];

test.each(rows.map((row, i) => [i, row] as const))('drawn layout %i is read as in Python', (_, row) => {
  const tensors = Object.fromEntries(
    Object.entries(row.outputs).map(([name, { dims, values }]) => [
      name,
      { dims, data: Float32Array.from(values), type: 'float32' },
    ]),
  ) as unknown as Tensors;
  const { dims, values } = row.outputs['logits']!;
  const [, queries, classes] = dims as [number, number, number];
  const reader = LAYOUTS[row.processor]!;
  const least = Math.fround(row.threshold);
  const kept = bestOfAll(Float32Array.from(values), classes, queries).filter(({ score }) => score >= least);
  const boxes = Float32Array.from(row.outputs['pred_boxes']!.values);
  const found = reader.sorted(kept, tensors).map(({ score, label, query }) => {
    const { xmin, ymin, xmax, ymax } = reader.box(boxes, query, { height: 61, width: 97 });
    return [score.toFixed(5), label, [xmin, ymin, xmax, ymax]];
  });
  expect(found).toEqual(row.expect.map(([score, ...rest]) => [score.toFixed(5), ...rest]));
});
