import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadRequest } from '../../../../../runtime/core/load-request.js';
import { loadImageTextMatcher } from '../../../../../runtime/engines/encoders/joint/image-text-matcher.js';
import { loadTextGuidedDetector } from '../../../../../runtime/engines/encoders/joint/text-guided-detector.js';
import { fixtureSpec } from '../../../../parity/load.js';

const ZOO = join(import.meta.dirname, '../../../../fixtures/zoo');
const { signal } = new AbortController();

function requestFor(
  task: 'zero-shot-image-classification' | 'zero-shot-object-detection',
  name: string,
): LoadRequest {
  const dir = join(ZOO, task, name, 'repo');
  return {
    ...{ spec: fixtureSpec(task, `zoo/${name}`, dir), dir, device: 'cpu', threads: 1, workers: 0 },
    ...{ copyWeights: false, cacheBytes: 2 ** 28, maxPixels: 1e8, maxSeconds: 1 },
  };
}

/** More than one run takes. */
const TEXTS = Array.from({ length: 300 }, (_, i) => `a ${i % 2 === 0 ? 'red' : 'very small'} circle ${i}`);

test('an image gets the same logit for each of many texts as for it alone', async () => {
  const image = readFileSync(join(ZOO, 'zero-shot-image-classification/clip-tiny/media/photo.jpg'));
  const matcher = await loadImageTextMatcher(requestFor('zero-shot-image-classification', 'clip-tiny'));
  const together = await matcher.match(image, TEXTS, signal);
  expect(together).toHaveLength(TEXTS.length);
  const other = await loadImageTextMatcher(requestFor('zero-shot-image-classification', 'clip-tiny'));
  for (const i of [0, 1, 57, 142, 143, 299]) {
    const [alone] = await other.match(image, [TEXTS[i]!], signal);
    expect(together[i]).toBeCloseTo(alone!, 3);
  }
  // By now all of them are known, and none is in the run.
  expect(await matcher.match(image, TEXTS, signal)).toEqual(together);
});

test('objects of many labels are those of each label by itself', async () => {
  const image = readFileSync(join(ZOO, 'zero-shot-object-detection/owlvit-tiny/media/photo.jpg'));
  const detector = await loadTextGuidedDetector(requestFor('zero-shot-object-detection', 'owlvit-tiny'));
  const labels = ['dog', 'a red circle', 'tree house', ...TEXTS.slice(0, 200)];
  const together = await detector.detect(image, labels, 0.05, signal);
  const first = together.filter(({ label }) => labels.indexOf(label) < 3);
  const alone = await detector.detect(image, labels.slice(0, 3), 0.05, signal);
  expect(first).toEqual(alone.map((row) => ({ ...row, score: expect.closeTo(row.score, 4) })));
  expect(alone.length).toBeGreaterThan(0);
  expect(together).toEqual(together.toSorted((a, b) => b.score - a.score));
});
