/**
 * Classes of images beside bare sessions and other servers, on a model of ViT-base's size: node bench/images.mjs --help.
 * With --against FOLDER the build of another checkout takes part: before and after in one run. docs/benchmarks.md says
 * what the columns mean.
 */
import { benchModel } from './lib.mjs';
import { SAME_SCORES } from './lib/agreement.mjs';
import { naive, rawSessions, slipway, SPREADS } from './lib/encoders.mjs';
import { readOptions } from './lib/options.mjs';
import { photosOf } from './lib/photos.mjs';
import { runTextBench } from './lib/text-bench.mjs';

const TASK = 'image-classification';
const SIZE = '1000x750';
/** Pixels of an edge that the model looks at. */
const EDGE = 224;
/** Answers are compared for images that nobody resizes, which libraries do in different ways. */
const UNRESIZED = `${EDGE}x${EDGE}`;
/** Images of a run without a server. */
const BATCHES = [1, 2, 4];

const options = readOptions(
  { cells: [`${SIZE}@1`, `${SIZE}@8`], rounds: 3, seconds: 15 },
  { against: { type: 'string' } },
);
const dir = benchModel('bench_vit.py');
const photos = new Map();
for (const kind of [UNRESIZED, ...options.cells.map((cell) => cell.kind)])
  if (!photos.has(kind)) photos.set(kind, await photosOf(kind));

const request = (base64) => ({ path: '/run', body: JSON.stringify({ base64 }) });
const jobs = () => BATCHES.map((batch) => ({ size: EDGE, batch }));
const raw = SPREADS.map((spread) =>
  rawSessions(dir, { ...spread, peer: 'bench/peers/raw-images.mjs', jobs }),
);
const ours = (checkout) => ({ ...slipway(dir, TASK, { profile: 'vision', in: checkout }), request });

await runTextBench('images', {
  ...{ options, agreement: SAME_SCORES, probe: options.cells[0].kind },
  ...{ compared: UNRESIZED, inputsOf: (kind) => photos.get(kind) },
  all: [
    ours(),
    ...(options.against === undefined ? [] : [ours(options.against)]),
    ...[{ ...naive(dir, TASK), request }, ...raw],
  ],
});
