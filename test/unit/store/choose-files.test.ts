import type { Dtype } from '../../../runtime/core/spec.js';
import { chooseFiles } from '../../../runtime/store/choose-files.js';
import type { ExternalFileNames } from '../../../runtime/store/external-files.js';
import { EMBEDDING_FILES } from '../../../runtime/tasks/feature-extraction.js';

const MB = 2 ** 20;

/** Paths as a listing; `name:size` for other sizes than one byte. */
function listing(...paths: string[]) {
  return paths.map((entry) => {
    const [path, size = '1'] = entry.split(':');
    return { path: path!, size: Number(size) };
  });
}

interface Given {
  files: ReturnType<typeof listing>;
  graphs?: string[];
  extra?: string[];
  dtype?: Dtype;
  external?: ExternalFileNames;
}

function choose({ files, graphs = ['model'], extra = [], dtype, external }: Given) {
  const choice = chooseFiles({ info: { id: 'org/m', files }, graphs, extra, dtype, external });
  return { ...choice, files: choice.files.map(({ path }) => path) };
}

describe('layouts', () => {
  test.each<[string, string[], string]>([
    ['onnx folder', ['onnx/model.onnx', 'model.safetensors'], 'onnx/model.onnx'],
    ['repository root', ['model.onnx', 'pytorch_model.bin'], 'model.onnx'],
    ['onnx folder before root', ['model.onnx', 'onnx/model.onnx'], 'onnx/model.onnx'],
    ['root before other folders', ['a/model.onnx', 'model.onnx'], 'model.onnx'],
    [
      'shortest other folder',
      ['export/deep/model.onnx', 'long-name/model.onnx', 'opt/model.onnx'],
      'opt/model.onnx',
    ],
    ['first by name among equals', ['bb/model.onnx', 'aa/model.onnx'], 'aa/model.onnx'],
    [
      'decoder-only export under its old name',
      ['decoder_model_merged.onnx', 'decoder_model.onnx'],
      'decoder_model_merged.onnx',
    ],
    [
      'plain name before an optimised variant',
      ['onnx/model_O1.onnx', 'other/model.onnx'],
      'other/model.onnx',
    ],
    ['optimised variant when nothing else is there', ['model_optimized.onnx'], 'model_optimized.onnx'],
  ])('%s', (_name, paths, expected) => {
    for (const order of [paths, paths.toReversed()]) {
      expect(choose({ files: listing(...order) }).graphs).toEqual({ model: expected });
    }
  });

  test('several graphs come from one folder', () => {
    const files = listing('encoder_model.onnx', 'onnx/encoder_model.onnx', 'onnx/decoder_model_merged.onnx');
    expect(choose({ files, graphs: ['encoder_model', 'decoder_model_merged'] }).graphs).toEqual({
      encoder_model: 'onnx/encoder_model.onnx',
      decoder_model_merged: 'onnx/decoder_model_merged.onnx',
    });
  });

  describe('a decoder that is merged or a pair', () => {
    const pair = ['onnx/decoder_model.onnx', 'onnx/decoder_with_past_model.onnx'];
    const rolesIn = (...paths: string[]) => {
      const choice = chooseFiles({
        info: { id: 'org/m', files: listing('onnx/encoder_model.onnx', ...paths) },
        graphs: ['encoder_model', 'decoder_model_merged'],
        otherGraphs: [['encoder_model', 'decoder_model', 'decoder_with_past_model']],
        extra: [],
      });
      return [choice.dtype, ...Object.keys(choice.graphs)];
    };

    test('is taken merged where both are there', () => {
      const merged = ['fp32', 'encoder_model', 'decoder_model_merged'];
      expect(rolesIn(...pair, 'onnx/decoder_model_merged.onnx')).toEqual(merged);
    });

    test.each([
      ['only the pair is there', pair],
      [
        'the merged one is less exact',
        [...pair, 'onnx/encoder_model_q4.onnx', 'onnx/decoder_model_merged_q4.onnx'],
      ],
    ])('is taken as a pair where %s', (_why, paths) => {
      expect(rolesIn(...paths)).toEqual([
        'fp32',
        'encoder_model',
        'decoder_model',
        'decoder_with_past_model',
      ]);
    });

    test('is missing where half of the pair is', () => {
      expect(() => rolesIn(pair[0]!)).toThrow(
        'no ONNX export with encoder_model.onnx + decoder_model_merged.onnx',
      );
    });
  });

  test('a pipeline keeps each graph in a folder of its own', () => {
    const files = listing('unet/model.onnx', 'vae_decoder/model.onnx', 'unet/weights.pb:9000000');
    const { graphs } = choose({ files, graphs: ['unet', 'vae_decoder'] });
    expect(graphs).toEqual({ unet: 'unet/model.onnx', vae_decoder: 'vae_decoder/model.onnx' });
  });

  test('the decoder of a sequence-to-sequence export does not stand in for a model', () => {
    const files = listing('onnx/encoder_model.onnx', 'onnx/decoder_model_merged.onnx');
    expect(() => choose({ files })).toThrow(/no ONNX export with model\.onnx \(there is onnx\/encoder_model/);
  });
});

describe('weight formats', () => {
  const all = ['', '_fp16', '_quantized', '_int8', '_uint8', '_q4', '_q4f16', '_bnb4'].map(
    (s) => `onnx/model${s}.onnx`,
  );
  const order: Dtype[] = ['fp32', 'fp16', 'q8', 'int8', 'uint8', 'q4', 'q4f16', 'bnb4'];

  test('the most exact one that is there', () => {
    for (let i = 0; i < all.length; i++) {
      const choice = choose({ files: listing(...all.slice(i)) });
      expect([choice.dtype, choice.graphs.model]).toEqual([order[i], all[i]]);
    }
  });

  test.each(order.map((dtype, i) => [dtype, all[i]!] as const))('%s asked for', (dtype, path) => {
    const choice = choose({ files: listing(...all), dtype });
    expect(choice).toMatchObject({
      dtype,
      graphs: { model: path },
      reason: expect.stringContaining('asked for'),
    });
  });

  test('a missing one is refused with those that are there', () => {
    const files = listing('onnx/model.onnx', 'onnx/model_q4.onnx');
    expect(() => choose({ files, dtype: 'fp16' })).toThrow(
      'org/m has no fp16 weights; take one of fp32, q4 with --dtype',
    );
  });

  test('an optimum folder names the format', () => {
    const files = listing('fp16/model.onnx', 'onnx/model_q4.onnx');
    expect(choose({ files })).toMatchObject({ dtype: 'fp16', graphs: { model: 'fp16/model.onnx' } });
  });

  test('a format that only one of two graphs has does not count', () => {
    const files = listing(
      'onnx/encoder_model.onnx',
      'onnx/encoder_model_q4.onnx',
      'onnx/decoder_model_merged_q4.onnx',
    );
    expect(choose({ files, graphs: ['encoder_model', 'decoder_model_merged'] }).dtype).toBe('q4');
  });

  test('says why', () => {
    expect(choose({ files: listing('model.onnx') }).reason).toContain('same answers as Python');
    expect(choose({ files: listing('model_fp16.onnx', 'model_q4.onnx') }).reason).toContain(
      'most exact of fp16, q4',
    );
    expect(choose({ files: listing('model_q4.onnx') }).reason).toContain('only one');
  });
});

describe('external weights by name', () => {
  test.each<[string, string[], string[]]>([
    ['one file', ['onnx/model.onnx_data'], ['onnx/model.onnx_data']],
    [
      'several',
      ['onnx/model.onnx_data', 'onnx/model.onnx_data_1'],
      ['onnx/model.onnx_data', 'onnx/model.onnx_data_1'],
    ],
    ['onnx.data', ['onnx/model.onnx.data'], ['onnx/model.onnx.data']],
    ['a nameless blob beside a lone graph', [`onnx/weights.pb:${9 * MB}`], ['onnx/weights.pb']],
    ['weights of other frameworks', [`onnx/pytorch_model.bin:${9 * MB}`, `onnx/x.safetensors:${9 * MB}`], []],
    ['those of another format', ['onnx/model_q4.onnx', 'onnx/model_q4.onnx_data'], []],
    ['those in another folder', ['model.onnx_data'], []],
    ['a name that only begins alike', ['onnx/model.onnx_database'], []],
  ])('%s', (_name, beside, expected) => {
    const { files } = choose({ files: listing('onnx/model.onnx', ...beside) });
    expect(files).toEqual(['onnx/model.onnx', ...expected]);
  });

  test('what the graph itself names counts alone', () => {
    const files = listing('onnx/model.onnx', 'onnx/model.onnx_data', 'onnx/shards/w1');
    const external = { 'onnx/model.onnx': ['shards/w1'] };
    expect(choose({ files, external }).files).toEqual(['onnx/model.onnx', 'onnx/shards/w1']);
  });

  test('a file that the graph names and the repository lacks is an error', () => {
    const external = { 'onnx/model.onnx': ['gone.bin'] };
    expect(() => choose({ files: listing('onnx/model.onnx'), external })).toThrow(
      /keeps its weights in onnx\/gone\.bin/,
    );
  });
});

test('config.json and the extra files that exist, sorted, nothing else', () => {
  const files = listing(
    'tokenizer.json',
    'onnx/model.onnx',
    'config.json',
    'README.md',
    'vocab.txt',
    '1_Pooling/config.json',
    '2_Dense/x/config.json',
  );
  const extra = ['tokenizer.json', 'special_tokens_map.json', '*_*/config.json'];
  expect(choose({ files, extra }).files).toEqual([
    '1_Pooling/config.json',
    'config.json',
    'onnx/model.onnx',
    'tokenizer.json',
  ]);
});

test('of weights in two formats only safetensors are taken', () => {
  const files = listing(
    ...[
      'onnx/model.onnx',
      '2_Dense/model.safetensors',
      '2_Dense/pytorch_model.bin',
      '3_Dense/pytorch_model.bin',
    ],
    ...['0_Transformer/pytorch_model.bin', '4_LayerNorm/pytorch_model.bin', 'pytorch_model.bin'],
  );
  expect(choose({ files, extra: EMBEDDING_FILES }).files).toEqual([
    '2_Dense/model.safetensors',
    '3_Dense/pytorch_model.bin',
    '4_LayerNorm/pytorch_model.bin',
    'onnx/model.onnx',
  ]);
});

test('the folders of sentence modules, by their numbers', () => {
  const files = listing(
    ...['onnx/model.onnx', '1_Pooling/config.json', '2_Dense_8/config.json', '2_Dense_8/model.safetensors'],
    ...['10_Dense/config.json', 'x_Dense/config.json', '[0-9]_x/config.json'],
  );
  expect(choose({ files, extra: ['[0-9]*_*/config.json', '[0-9]*_*/model.safetensors'] }).files).toEqual([
    '10_Dense/config.json',
    '1_Pooling/config.json',
    '2_Dense_8/config.json',
    '2_Dense_8/model.safetensors',
    'onnx/model.onnx',
  ]);
});

test('no graph at all', () => {
  expect(() => choose({ files: listing('model.safetensors') })).toThrow(
    'org/m has no ONNX export with model.onnx',
  );
});
