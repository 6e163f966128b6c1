import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { finish } from '../../runtime/core/steps.js';
import { createImageProcessor } from '../../runtime/engines/processors/image/image-processor.js';
import { torchResize } from '../../runtime/engines/processors/image/torch-resize.js';

interface Case {
  width: number;
  height: number;
  toWidth: number;
  toHeight: number;
  resample: number;
  sha256: string;
}

const fixture = join(import.meta.dirname, '../fixtures/torch-resize.json');
const cases = JSON.parse(readFileSync(fixture, 'utf8')) as Case[];

/** The image of the script. */
function image(width: number, height: number) {
  const data = new Uint8Array(width * height * 3);
  for (let i = 0; i < data.length; i++) {
    const [x, y] = [Math.floor(i / 3) % width, Math.floor(i / 3 / width)];
    const isEdge = (Math.floor(x / 5) + Math.floor(y / 3)) % 4 === 0;
    data[i] = isEdge ? 255 : (x * 7 + y * 13 + (i % 3) * 50 + ((x * y) % 31) * 3) % 256;
  }
  return { data, width, height, channels: 3 };
}

/** Fixture: scripts/fixtures/torch_resize.py, made with torchvision itself. */
describe('resizing bytes as PyTorch does', () => {
  test.each(cases)('$width x $height -> $toWidth x $toHeight, filter $resample', (row) => {
    const size = { width: row.toWidth, height: row.toHeight };
    const settings = { size, crop_pct: null, resample: row.resample };
    const { data } = finish(torchResize(image(row.width, row.height), settings));
    expect(createHash('sha256').update(data).digest('hex')).toBe(row.sha256);
  });

  test.each([{ resample: 0 }, { resample: 1 }, { do_center_crop: true }])(
    'settings that torchvision reads otherwise are refused: %p',
    (settings) => {
      const config = { image_processor_type: 'Sam2ImageProcessorFast', ...settings };
      expect(() => createImageProcessor(config)).toThrow(/is not supported/);
    },
  );

  test('an edge alone is no size of these classes', () => {
    const config = { image_processor_type: 'DINOv3ViTImageProcessorFast', size: { shortest_edge: 8 } };
    expect(() => createImageProcessor(config).process(image(9, 9))).toThrow(/no height and width/);
  });
});
