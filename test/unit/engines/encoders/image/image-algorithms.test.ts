import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suppressOverlaps } from '../../../../../runtime/engines/encoders/image/masks/non-maximum.js';
import { panopticMap } from '../../../../../runtime/engines/encoders/image/segments/panoptic.js';
import {
  classPlanes,
  enlargeMasks,
  readQueries,
} from '../../../../../runtime/engines/encoders/image/segments/queries.js';
import { semanticMap } from '../../../../../runtime/engines/encoders/image/segments/semantic.js';
import {
  bicubicRows,
  bilinear,
  bilinearOfRows,
  bilinearRows,
} from '../../../../../runtime/engines/processors/image/interpolate.js';

interface Cases {
  interpolate: {
    mode: 'bilinear' | 'bicubic';
    from: [number, number];
    to: [number, number];
    values: number[];
    expected: number[];
  }[];
  suppress: { threshold: number; boxes: number[][]; scores: number[]; kept: number[] }[];
  segments: {
    processor: string;
    subtask: string;
    classes: number[];
    masks: number[];
    size: [number, number];
    threshold: number;
    mask_threshold: number;
    overlap_mask_area_threshold: number;
    ids: number[];
    segments: { id: number; label_id: number; score: number }[] | null;
  }[];
}

/** Numbers of torch, torchvision and transformers: scripts/fixtures/image_algorithms.py */
const file = join(import.meta.dirname, '../../../../fixtures/image-algorithms.json');
const cases = JSON.parse(readFileSync(file, 'utf8')) as Cases;
const { signal } = new AbortController();

test.each([
  ['enlarged', { height: 90, width: 131 }],
  ['reduced', { height: 9, width: 7 }],
])('a part of what was enlarged before, %s: two rows give what the whole plane gives', (_, to) => {
  const plane = {
    height: 11,
    width: 13,
    values: Float32Array.from({ length: 143 }, (_, i) => Math.sin(i * i)),
  };
  const [larger, part] = [
    { height: 40, width: 48 },
    { height: 33, width: 41 },
  ];
  const whole = bilinear(plane, larger);
  const cut = Float32Array.from({ length: part.height * part.width }, (_, i) => {
    const [y, x] = [Math.floor(i / part.width), i % part.width];
    return whole.values[y * larger.width + x]!;
  });
  const expected = bilinear({ ...part, values: cut }, to);
  const rows = bilinearOfRows(bilinearRows(plane, larger), part, to);
  const row = new Float32Array(to.width);
  // In order, and once more from the end.
  const order = Array.from({ length: to.height }, (_, y) => y);
  for (const y of [...order, ...order.toReversed()]) {
    rows.row(y, row);
    expect(row).toEqual(expected.values.slice(y * to.width, (y + 1) * to.width));
  }
});

test.each(cases.interpolate)('a plane of $from enlarged or reduced to $to, $mode', (given) => {
  const [height, width] = given.from;
  const plane = { values: Float32Array.from(given.values), height, width };
  const [toHeight, toWidth] = given.to;
  const rows = (given.mode === 'bilinear' ? bilinearRows : bicubicRows)(plane, {
    height: toHeight,
    width: toWidth,
  });
  const found = Array.from({ length: toHeight }, (_, y) => {
    const row = new Float32Array(toWidth);
    rows.row(y, row);
    return [...row];
  }).flat();
  for (const [i, value] of given.expected.entries()) expect(found[i]).toBeCloseTo(value, 4);
});

test.each(cases.suppress)(
  'of overlapping boxes the best are kept, $threshold',
  ({ threshold, boxes, scores, kept }) => {
    const candidates = boxes.map(([left, top, right, bottom], index) => ({
      ...{ index, score: scores[index]! },
      box: { left: left!, top: top!, right: right!, bottom: bottom! },
    }));
    expect(suppressOverlaps(candidates, threshold).map(({ index }) => index)).toEqual(kept);
  },
);

test.each(cases.segments)('$processor: $subtask segments above $threshold', async (given) => {
  const { classes, masks, size, subtask, processor, ids, segments } = given;
  const found = readQueries({
    class_queries_logits: { type: 'float32', data: Float32Array.from(classes), dims: [1, 6, 5] },
    masks_queries_logits: { type: 'float32', data: Float32Array.from(masks), dims: [1, 6, 8, 10] },
  })!;
  const queries = processor === 'Mask2Former' ? await enlargeMasks(found, 384, signal) : found;
  const edges = { height: size[0], width: size[1] };
  const options = {
    threshold: given.threshold,
    maskThreshold: given.mask_threshold,
    overlapThreshold: given.overlap_mask_area_threshold,
    signal,
  };
  const map =
    subtask === 'semantic'
      ? await semanticMap(await classPlanes(queries, signal), edges, signal)
      : await panopticMap(queries, edges, options);
  if (segments) {
    expect(map.segments).toEqual(
      segments.map(({ id, label_id, score }) => ({ id, label: label_id, score: expect.closeTo(score, 5) })),
    );
    // Where no segment is, Python writes 0 beside segments, and -1 where there are none at all.
    expect([...map.ids].map((id) => Math.max(0, id))).toEqual(ids.map((id) => Math.max(0, id)));
  } else expect([...map.ids]).toEqual(ids);
});
