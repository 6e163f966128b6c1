import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createImageProcessor } from '../../runtime/engines/processors/image/image-processor.js';

interface Row {
  config: Record<string, unknown>;
  width: number;
  height: number;
  /** Channels, height and width that Python gives. */
  shape: [number, number, number];
  mean: number;
  /** Every how many numbers one of `values` is taken. */
  step: number;
  values: number[];
  /** Set where Python fails. */
  error?: string;
}

const fixtures = join(import.meta.dirname, '../fixtures');
/** RANDOM_IMAGE_PROCESSORS: rows of scripts/fixtures/random_image_processors.py in place of the fixtures. */
const given = process.env['RANDOM_IMAGE_PROCESSORS'];
const files = given
  ? [given]
  : ['image-processors.json', 'image-processors-v5.json'].map((name) => join(fixtures, name));
const rows = files.flatMap((file) => JSON.parse(readFileSync(file, 'utf8')) as Row[]);

/** The image of the script. */
function image(width: number, height: number) {
  const level = (x: number, y: number, c: number) => (x * 7 + y * 13 + c * 50 + ((x * y) % 31) * 3) % 256;
  const data = Uint8Array.from({ length: width * height * 3 }, (_, i) =>
    level(Math.floor(i / 3) % width, Math.floor(i / 3 / width), i % 3),
  );
  return { data, width, height, channels: 3 };
}

const named = rows.map((row) => {
  const { image_processor_type: type, ...settings } = row.config;
  return [`${String(type)} ${JSON.stringify(settings)} of ${row.width} x ${row.height}`, row] as const;
});

/** Fixtures: scripts/fixtures/image_processors.py, made with Python's slow processors of 4.57, and with those of 5.24 that changed. */
describe('image processors give the numbers that Python gives', () => {
  test.each(named.filter(([, { error }]) => error === undefined))('%s', (_, row) => {
    const { values, height, width } = createImageProcessor(row.config).process(image(row.width, row.height));
    expect([values.length / height / width, height, width]).toEqual(row.shape);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(Math.abs(mean - row.mean)).toBeLessThan(1e-4 * Math.max(1, Math.abs(row.mean)));
    for (const [i, expected] of row.values.entries()) {
      const found = values[i * row.step]!;
      if (!(Math.abs(found - expected) <= 2e-5 * Math.max(1, Math.abs(expected)))) {
        throw new Error(`number ${i * row.step} is ${found}, expected ${expected}`);
      }
    }
  });

  // With random settings Python may fail where there is nothing wrong here.
  const failing = given ? [] : named.filter(([, { error }]) => error !== undefined);
  if (failing.length > 0)
    test.each(failing)('%s fails as in Python', (_, row) => {
      expect(() => createImageProcessor(row.config).process(image(row.width, row.height))).toThrow();
    });
});
