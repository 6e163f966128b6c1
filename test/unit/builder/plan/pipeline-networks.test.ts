import { checkpointOf, pipelineNetworks } from '../../../../builder/plan/pipeline-networks.js';
import type { ModelInfo } from '../../../../runtime/core/spec.js';

const SETS = [
  ['text_encoder', 'text_encoder_2', 'unet', 'vae_decoder'],
  ['text_encoder', 'unet', 'vae_decoder'],
];

const INDEX = {
  text_encoder: ['transformers', 'CLIPTextModel'],
  unet: ['diffusers', 'UNet2DConditionModel'],
  vae: ['diffusers', 'AutoencoderKL'],
  safety_checker: [null, null],
};

const filesOf = (...paths: string[]) => paths.map((path) => ({ path, size: 9 }));

function networks(index: object, paths: string[], graphs = SETS) {
  const source = { readText: async () => JSON.stringify(index) };
  const info = { id: 'tiny/pipeline', files: filesOf(...paths) } as ModelInfo;
  return pipelineNetworks(source, info, { name: 'StableDiffusionPipeline', graphs });
}

test('networks lie in folders of their names, and have names of their library', async () => {
  const found = await networks(INDEX, ['text_encoder/config.json', 'unet/config.json', 'vae/config.json']);
  expect(found).toEqual([
    ...[
      {
        folder: 'text_encoder',
        stem: undefined,
        config: 'text_encoder/config.json',
        roles: ['text_encoder'],
      },
    ],
    ...[
      { folder: 'unet', config: 'unet/config.json', roles: ['unet'] },
      { folder: 'vae', config: 'vae/config.json', roles: ['vae_decoder'] },
    ].map((place) => ({ ...place, stem: 'diffusion_pytorch_model' })),
  ]);
});

test('a network without a folder is that of the root', async () => {
  const [unet] = await networks({ unet: INDEX.unet }, ['config.json'], [['unet']]);
  expect(unet).toMatchObject({ folder: '', config: 'config.json' });
});

test('a pipeline that lacks a network names those that it has', async () => {
  const lacking = { ...INDEX, vae: [null, null] };
  await expect(networks(lacking, [])).rejects.toThrow('names text_encoder, unet, which is not enough');
});

describe('the checkpoint', () => {
  const place = {
    folder: 'unet',
    stem: 'diffusion_pytorch_model',
    config: 'unet/config.json',
    roles: ['unet'],
  };
  const plain = 'unet/diffusion_pytorch_model.safetensors';
  const half = 'unet/diffusion_pytorch_model.fp16.safetensors';
  const torch = 'unet/diffusion_pytorch_model.bin';
  const chosen = (paths: string[], dtype?: 'fp16' | 'fp32') =>
    checkpointOf(filesOf(...paths), place, dtype).file.path;

  test('is the one that Python takes', () => {
    expect(chosen([half, torch, plain])).toBe(plain);
    expect(chosen([half, torch])).toBe(torch);
  });

  test('is that of 16 bits where it is asked for, or alone', () => {
    expect(chosen([half, plain], 'fp16')).toBe(half);
    expect(chosen([plain], 'fp16')).toBe(plain);
    expect(chosen([half])).toBe(half);
  });

  test('that is not there is refused', () => {
    expect(() => chosen(['unet/model.safetensors'])).toThrow(
      'unet holds neither diffusion_pytorch_model.safetensors',
    );
  });
});
