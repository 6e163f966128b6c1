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

test.each([
  ['timm-resnet', 'avg'],
  ['timm-vit', 'token'],
  ['timm-beit', 'avg'],
  ['timm-swin', 'avg'],
])('arguments that repeat what is known, as timm 1.0 writes them, are served: %s', async (fixture, pool) => {
  const text = await readFile(join(graphModel(fixture), 'config.json'), 'utf8');
  const { num_classes, pretrained_cfg } = JSON.parse(text) as {
    num_classes: number;
    pretrained_cfg: { input_size: number[] };
  };
  const [in_chans, ...img_size] = pretrained_cfg.input_size;
  const known = { in_chans, num_classes, global_pool: pool, img_size };
  const task = 'image-classification';
  const { spec } = await plan({ model_args: known }, task, fixture);
  expect(spec.written).toEqual((await plan({}, task, fixture)).spec.written);
  const other = { ...known, global_pool: pool === 'avg' ? 'token' : 'avg' };
  await expect(plan({ model_args: other }, task, fixture)).rejects.toThrow(/features are pooled by/);
});

test('its features are served, too, also of one that tells no labels', async () => {
  const { spec } = await plan({ num_classes: 0 }, 'image-feature-extraction');
  expect(spec).toMatchObject({ task: 'image-feature-extraction', graphs: { model: 'graphs/model.onnx' } });
});

test.each<[string, object, RegExp]>([
  ['another architecture', { architecture: 'resnest50d' }, /no graph can be written for timm resnest50d/],
  [
    'sizes of its own',
    { model_args: { depth: 3 } },
    /model_args\.depth: it makes another network of the name/,
  ],
  ['other labels', { model_args: { num_classes: 4 } }, /model_args\.num_classes: it makes another network/],
  ['other channels', { model_args: { in_chans: 1 } }, /model_args\.in_chans: it makes another network/],
  ['another size', { model_args: { img_size: [64, 32] } }, /model_args\.img_size: it makes another network/],
  ['another size for both edges', { model_args: { img_size: 31 } }, /model_args\.img_size: it makes another/],
  [
    'another way to pool',
    { model_args: { global_pool: 'max' } },
    /model_args\.global_pool: features are pooled by avg here, not max/,
  ],
  ['no labels', { num_classes: 0 }, /num_classes is 0/],
  ['another number of labels', { num_classes: 6 }, /fc.weight has 5 labels, but config.json 6/],
  ['labels that are not known', { num_classes: 21_841 }, /names of so many classes of ImageNet/],
])('%s: refused', async (_, change, message) => {
  await expect(plan(change, 'image-classification')).rejects.toThrow(message);
});

test.each([
  ['timm-vit', 48, 'pos_embed has 17 places, but images of 32 x 48, as config.json has it, have 24 patches'],
  ['timm-swin', 48, 'has 9 rows, which are of no windows of 8 x 12 tokens'],
])('%s: images of another size than its own are refused', async (fixture, width, message) => {
  const other = { pretrained_cfg: { input_size: [3, 32, width] } };
  await expect(plan(other, 'image-classification', fixture)).rejects.toThrow(message);
});
