import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ImageSize } from '../../../../../runtime/core/network.js';
import type { Json } from '../../../../../builder/plan/network/config-fields.js';
import { processedEdges } from '../../../../../builder/plan/vision/image-edges.js';
import { isImageProcessor, imageProcessorStem } from '../../../../../runtime/core/image-processors.js';
import { createImageProcessor } from '../../../../../runtime/engines/processors/image/image-processor.js';
import { readersOf } from '../../../../../runtime/models/readers.js';
import type { ModelSpec } from '../../../../../runtime/core/spec.js';
import { readProcessorConfig } from '../../../../../runtime/engines/processors/image/processor-config.js';

const FIXTURES = 'test/fixtures';
const IMAGE: ImageSize = { height: 96, width: 128 };

const readJson = (path: string): Json =>
  existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Json) : {};

/** Repositories of the reference models that say how they want their images. */
const repositories = ['zoo', 'zoo-own']
  .flatMap((root) => readdirSync(join(FIXTURES, root)).map((task) => join(FIXTURES, root, task)))
  .flatMap((task) => readdirSync(task).map((name) => join(task, name, 'repo')))
  .filter((dir) => existsSync(join(dir, 'preprocessor_config.json')))
  .map((dir) => ({
    dir,
    config: readJson(join(dir, 'config.json')),
    processing: readJson(join(dir, 'preprocessor_config.json')),
  }));

const area = ({ height, width }: ImageSize): number => height * width;

async function processorOf(dir: string, config: Json) {
  const settings = await readProcessorConfig(
    { dir, spec: { readers: readersOf(config) } as ModelSpec },
    config,
  );
  const name = imageProcessorStem(
    String(settings['image_processor_type'] ?? settings['feature_extractor_type']),
  );
  return isImageProcessor(name) ? createImageProcessor(settings) : undefined;
}

test('edges are those that the server gives the network, for every reference model', async () => {
  const found = [];
  for (const { dir, config, processing } of repositories) {
    const processor = await processorOf(dir, config);
    if (!processor) continue;
    const image = { ...IMAGE, channels: 3, data: new Uint8Array(3 * area(IMAGE)) } as const;
    const given = processor.process(image);
    // Patches have their pixels side by side.
    const numbers = given.patches ? given.values.length / 3 : area(given);
    const ratio = area(processedEdges(config, processing, IMAGE)) / numbers;
    found.push({ dir, ratio: Math.round(ratio * 100) / 100 });
  }
  expect(found.length).toBeGreaterThan(40);
  expect(found.filter(({ ratio }) => ratio < 0.95 || ratio > 1.1)).toEqual([]);
});

test.each<[string, Json, Json, ImageSize]>([
  ['a number is a square', {}, { size: 384 }, { height: 384, width: 384 }],
  [
    'DETR: a number is the shortest edge, within the longest',
    {},
    { image_processor_type: 'DetrImageProcessor', size: 800, max_size: 1000 },
    { height: 750, width: 1000 },
  ],
  [
    'DETR: what its class takes where nothing is said',
    { model_type: 'detr' },
    {},
    { height: 800, width: 1067 },
  ],
  [
    'what is cut out decides',
    {},
    { size: { shortest_edge: 256 }, do_center_crop: true, crop_size: 224 },
    { height: 224, width: 224 },
  ],
  [
    'SAM: padded to a square',
    {},
    { image_processor_type: 'SamImageProcessor', size: { longest_edge: 1024 } },
    { height: 1024, width: 1024 },
  ],
  [
    'DPT: the edge that changes less decides, in multiples',
    {},
    {
      image_processor_type: 'DPTImageProcessor',
      size: { height: 518, width: 518 },
      keep_aspect_ratio: true,
      ensure_multiple_of: 14,
    },
    { height: 518, width: 686 },
  ],
  [
    'ZoeDepth: proportions stay where nothing is said',
    {},
    { image_processor_type: 'ZoeDepthImageProcessor' },
    { height: 384, width: 512 },
  ],
  [
    'ZoeDepth: proportions that need not stay',
    {},
    {
      image_processor_type: 'ZoeDepthImageProcessor',
      size: { height: 64, width: 64 },
      keep_aspect_ratio: false,
    },
    { height: 64, width: 64 },
  ],
  [
    'ZoeDepth: proportions that stay',
    {},
    { image_processor_type: 'ZoeDepthImageProcessor', size: { height: 64, width: 64 } },
    { height: 64, width: 96 },
  ],
  [
    'images that keep their size',
    {},
    { image_processor_type: 'GLPNFeatureExtractor' },
    { height: 736, width: 992 },
  ],
  ['timm', { pretrained_cfg: { input_size: [3, 288, 320] } }, {}, { height: 288, width: 320 }],
  ['patches', {}, { max_num_patches: 256, patch_size: 16 }, { height: 256, width: 256 }],
])('%s', (_, config, processing, edges) => {
  const found = processedEdges(config, processing);
  expect(Math.abs(found.height - edges.height)).toBeLessThanOrEqual(16);
  expect(Math.abs(found.width - edges.width)).toBeLessThanOrEqual(16);
});

test.each<[string, Json]>([
  ['of text', { size: 'large', crop_size: '9'.repeat(400), do_center_crop: true }],
  ['that are negative or no numbers', { size: { height: -5, width: null }, pad_size: { height: NaN } }],
  ['that are endless', { size: { shortest_edge: 1e300 }, max_size: Infinity }],
  ['in lists', { size: [[1], {}], ensure_multiple_of: [] }],
])('settings %s give edges, too', (_, processing) => {
  const { height, width } = processedEdges({}, processing);
  expect(height).toBeGreaterThanOrEqual(1);
  expect(Math.max(height, width)).toBeLessThanOrEqual(2 ** 14);
});
