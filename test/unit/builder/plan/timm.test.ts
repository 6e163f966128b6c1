import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { planModel } from '../../../../builder/plan/index.js';
import { folderSource } from '../../../../runtime/store/folder.js';
import { graphModel } from '../../../fakes/drawn-weights.js';
import { folderWith } from '../../store/folders.js';

async function plan(
  change: object,
  task?: 'image-classification' | 'image-feature-extraction',
  fixture = 'timm-resnet',
) {
  const [config, weights] = await Promise.all(
    ['config.json', 'model.safetensors'].map((name) => readFile(join(graphModel(fixture), name))),
  );
  const settings = { ...(JSON.parse(String(config)) as object), ...change };
  const folder = folderWith({ 'config.json': JSON.stringify(settings), 'model.safetensors': weights! });
  return planModel({ source: folderSource(folder), id: 'timm/m', task });
}

test('a repository of timm is served from its own weights, without a preprocessor_config.json', async () => {
  const { spec, reasons } = await plan({});
  expect(spec).toMatchObject({ task: 'image-classification', modelType: 'timm_resnet', dtype: 'fp16' });
  expect(spec.files.map(({ path }) => path)).toEqual(['config.json', 'model.safetensors']);
  expect(reasons.join()).toContain('graph: written for timm_resnet over model.safetensors');
  // As transformers saves it.
  expect((await plan({ model_type: 'timm_wrapper' })).spec.modelType).toBe('timm_resnet');
});

test('its features are served, too, also of one that tells no labels', async () => {
  const { spec } = await plan({ num_classes: 0 }, 'image-feature-extraction');
  expect(spec).toMatchObject({ task: 'image-feature-extraction', graphs: { model: 'graphs/model.onnx' } });
});

test.each<[string, object, RegExp]>([
  ['another architecture', { architecture: 'resnest50d' }, /no graph can be written for timm resnest50d/],
  ['sizes of its own', { model_args: { depth: 3 } }, /model_args: sizes of its own/],
  ['no labels', { num_classes: 0 }, /num_classes is 0/],
  ['another number of labels', { num_classes: 6 }, /fc.weight has 5 labels, but config.json 6/],
  ['labels that are not known', { num_classes: 21_841 }, /names of so many classes of ImageNet/],
])('%s: refused', async (_, change, message) => {
  await expect(plan(change, 'image-classification')).rejects.toThrow(message);
});

test.each([
  [
    'timm-vit',
    48,
    'pos_embed has 17 places, but pictures of 32 x 48, as config.json has it, have 24 patches',
  ],
  ['timm-swin', 48, 'has 9 rows, which are of no windows of 8 x 12 tokens'],
])('%s: pictures of another size than its own are refused', async (fixture, width, message) => {
  const other = { pretrained_cfg: { input_size: [3, 32, width] } };
  await expect(plan(other, 'image-classification', fixture)).rejects.toThrow(message);
});
