import { readFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeImage } from '../../../runtime/media/decode-image.js';

interface Case {
  file: string;
  /** Set where Pillow can't read the file. */
  error?: string;
  width: number;
  height: number;
  sum: number;
  /** Every how many samples one of `values` is taken. */
  step: number;
  values: number[];
}

const folder = join(import.meta.dirname, '../../fixtures/pictures');
const cases = JSON.parse(readFileSync(join(folder, 'cases.json'), 'utf8')) as Case[];
const LOSSY = /\.jpg$|^lossy\.webp$|\.avif$|^wrong-extension/;

/** Levels by which a sample may differ: decoders of lossy formats round in their own ways. */
const allowed = (file: string): number => (LOSSY.test(file) ? 3 : 0);

/** Fixture: scripts/fixtures/image_battery.py, read by Pillow. */
describe('images are decoded as Pillow decodes them', () => {
  test.each(cases.filter(({ error }) => error === undefined))('$file', async (row) => {
    const found = await decodeImage(await readFile(join(folder, row.file)), 1e6);
    expect({ width: found.width, height: found.height, channels: found.channels }).toEqual({
      width: row.width,
      height: row.height,
      channels: 3,
    });
    const values = row.values.map((_, i) => found.data[i * row.step]!);
    const worst = Math.max(...values.map((value, i) => Math.abs(value - row.values[i]!)));
    expect({ worst: worst <= allowed(row.file) ? 'near' : worst, values }).toEqual({
      worst: 'near',
      values: allowed(row.file) === 0 ? row.values : values,
    });
    const sum = found.data.reduce((total, level) => total + level, 0);
    expect(Math.abs(sum - row.sum) / found.data.length).toBeLessThanOrEqual(allowed(row.file) / 4);
  });

  test.each(cases.filter(({ error }) => error !== undefined))('$file is a 422', async ({ file }) => {
    await expect(decodeImage(await readFile(join(folder, file)), 1e6)).rejects.toMatchObject({
      code: 'unprocessable',
    });
  });
});
