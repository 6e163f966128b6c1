import { defaultWorkers, forecastFormats } from '../../../../builder/plan/forecast.js';
import { predictMemory } from '../../../../builder/plan/memory.js';
import { imageMemory } from '../../../../builder/plan/vision/image-memory.js';
import { sessionKind } from '../../../../builder/plan/session-kind.js';
import { sizesOf } from '../../../../builder/plan/network/sizes.js';
import { judgeFit } from '../../../../builder/plan/verdict.js';
import type { Dtype, ModelSpec } from '../../../../runtime/core/spec.js';

const MB = 1e6;

const spec = (bytes: number, more: Partial<ModelSpec> = {}): ModelSpec => ({
  ...{ specVersion: 1, id: 'a/b', revision: 'main', commit: 'c', task: 'text-classification' },
  ...{ engine: 'transformers', profile: 'text', dtype: 'fp32', graphs: { model: 'onnx/model.onnx' } },
  files: [
    { path: 'onnx/model.onnx', size: bytes },
    { path: 'tokenizer.json', size: 700_000 },
  ],
  ...more,
});
const sizes = sizesOf({
  vocab_size: 30522,
  hidden_size: 768,
  intermediate_size: 3072,
  num_hidden_layers: 12,
});
const image = imageMemory({}, {});
const peak = (one: ModelSpec, workers = 2) => predictMemory({ spec: one, sizes, image, workers }).peakBytes;

describe('predicted memory', () => {
  test('an encoder of texts has its weights once, without the table of which texts read little; its limit has room for more', () => {
    const table = (30522 * 768 * 4) / MB;
    const of = (one: ModelSpec) => predictMemory({ spec: one, sizes, image, workers: 2 });
    const grows = (more: Partial<ModelSpec>) =>
      (of(spec(1400 * MB, more)).peakBytes - of(spec(400 * MB, more)).peakBytes) / MB;
    expect(grows({})).toBeCloseTo(1050);
    expect(grows({ dtype: 'fp16' })).toBeCloseTo(2100);
    const masks = of(spec(400 * MB, { task: 'fill-mask' }));
    expect((masks.peakBytes - of(spec(400 * MB)).peakBytes) / MB).toBeCloseTo(table);
    // The copy that sessions share is written while the first one answers.
    const { peakBytes, limitBytes } = of(spec(400 * MB));
    expect(limitBytes).toBeGreaterThan(peakBytes + 400 * MB);
  });

  test('each session thread costs the same, and only encoders of audio have them at once', () => {
    const audios = spec(90 * MB, { profile: 'media', task: 'audio-classification' });
    const [two, four, eight] = [2, 4, 8].map((workers) => peak(audios, workers)) as [number, number, number];
    expect(four).toBeGreaterThan(two);
    expect(eight - four).toBe(2 * (four - two));
    // They make them when requests meet.
    const masks = spec(90 * MB, { profile: 'vision', task: 'mask-generation' });
    const labels = spec(90 * MB, { profile: 'vision', task: 'image-classification' });
    for (const one of [masks, labels, spec(90 * MB)]) expect(peak(one, 8)).toBe(peak(one, 2));
    const decoder = spec(90 * MB, { engine: 'generation', task: 'text-generation' });
    expect(peak(decoder, 8)).toBe(peak(decoder, 2));
  });

  test('networks that write about images are held twice over exports, and little more than once over graphs of ours', () => {
    const graphs = { encoder_model: 'onnx/encoder_model.onnx', decoder_model_merged: 'onnx/decoder.onnx' };
    const copies = (written: boolean) => {
      const one = (bytes: number) =>
        peak(
          spec(bytes, {
            ...{ profile: 'vision', task: 'image-to-text', engine: 'generation', graphs },
            ...(written ? { written: [] } : {}),
          }),
        );
      return (one(2000 * MB) - one(1000 * MB)) / (1000 * MB);
    };
    // Measured: 1.21 (BLIP) and 1.25 (ViT with GPT-2).
    expect(copies(true)).toBeCloseTo(1.25);
    expect(copies(false)).toBeCloseTo(2.05);
  });

  test.each(['image-classification', 'mask-generation', 'zero-shot-image-classification'] as const)(
    '%s reads mapped graphs: one copy of the weights, more of convolutions and of 16 bits',
    (task) => {
      const loading = (dtype: Dtype, more: Partial<ReturnType<typeof imageMemory>> = {}) => {
        const one = (bytes: number) =>
          predictMemory({
            spec: spec(bytes, { profile: 'vision', task, dtype }),
            ...{ sizes, image: { ...image, convolutional: false, ...more }, workers: 2 },
          }).loadPeakBytes;
        return (one(4000 * MB) - one(3000 * MB)) / (1000 * MB);
      };
      expect(loading('fp32')).toBeCloseTo(1.05);
      expect(loading('fp32', { convolutional: true })).toBeCloseTo(2);
      expect(loading('fp16')).toBeCloseTo(2.1);
    },
  );

  test.each(['object-detection', 'mask-generation'] as const)(
    'while images are answered by %s one session keeps a run, and tensors and folded tables stay',
    (task) => {
      const written = [{ path: 'model.onnx', content: '', sha256: '', size: 0 }];
      const steady = (more: Partial<ReturnType<typeof imageMemory>>, own = true) =>
        predictMemory({
          spec: spec(90 * MB, {
            ...{ profile: 'vision', task },
            ...(own ? { written } : {}),
          }),
          ...{ sizes, image: { ...image, ...more }, workers: 2 },
        }).steadyBytes / MB;
      const run = { own: 300 * MB, exported: 700 * MB };
      expect(steady({ run }) - steady({ run: { own: 0, exported: 0 } })).toBeCloseTo(300);
      expect(steady({ run }, false) - steady({ run }, true)).toBeCloseTo(400);
      expect(steady({ tensors: 80 * MB }) - steady({ tensors: 0 })).toBeCloseTo(80);
      expect(steady({ folded: 192 * MB }) - steady({ folded: 0 })).toBeCloseTo(192);
    },
  );

  test('audio takes what convolutions over half a minute of samples take, once', () => {
    const steady = (audio: number) =>
      predictMemory({
        spec: spec(90 * MB, { profile: 'media', task: 'automatic-speech-recognition' }),
        ...{ sizes, image, audio, workers: 2 },
      }).steadyBytes / MB;
    expect(steady(590 * MB) - steady(390 * MB)).toBeCloseTo(200);
  });

  test('a container for images has room for the largest one, and for a run in each session', () => {
    const vit = (edge: number) =>
      imageMemory(
        { hidden_size: 768, intermediate_size: 3072, num_attention_heads: 12, patch_size: 16 },
        { image_processor_type: 'ViTImageProcessor', size: { height: edge, width: edge } },
      );
    const one = spec(340 * MB, { profile: 'vision', task: 'image-classification' });
    const limit = (edge: number, workers: number) =>
      predictMemory({ spec: one, sizes, image: vit(edge), workers }).limitBytes;
    // 50 megapixels and 3 bodies of 48 MiB beside the weights.
    expect(limit(224, 2)).toBeGreaterThan(180 * MB + 150 * MB + 340 * MB);
    expect(limit(224, 4) - limit(224, 2)).toBeGreaterThan(2 * 18 * MB);
    expect(limit(384, 2) - limit(224, 2)).toBeGreaterThan(3 * 30 * MB);
  });

  test('chats about images are reckoned as a decoder beside a vision encoder', () => {
    const chat = spec(0, {
      ...{ engine: 'generation', profile: 'vision', task: 'image-text-to-text' },
      graphs: {
        decoder_model_merged: 'onnx/d.onnx',
        vision_encoder: 'onnx/v.onnx',
        embed_tokens: 'onnx/e.onnx',
      },
      files: [
        { path: 'onnx/d.onnx', size: 500 * MB },
        { path: 'onnx/v.onnx', size: 300 * MB },
        { path: 'onnx/e.onnx', size: 100 * MB },
      ],
    });
    expect(sessionKind({ spec: chat, workers: 2 })).toBe('media-chat');
    const network = (vision: object) =>
      sizesOf({
        text_config: { hidden_size: 576, intermediate_size: 1536, num_attention_heads: 9 },
        vision_config: { hidden_size: 768, intermediate_size: 3072, num_attention_heads: 12, ...vision },
      });
    const limit = (vision: object) =>
      predictMemory({ spec: chat, sizes: network(vision), image, workers: 2 }).limitBytes / MB;
    const finer = limit({ image_size: 512, patch_size: 16 }) - limit({ image_size: 224, patch_size: 16 });
    // Twelve heads of 1025 x 1025 scores, twice, for a run and for what is set aside beside it.
    expect(finer).toBeGreaterThan(120);
    expect(limit({})).toBeGreaterThan(limit({ image_size: 512, patch_size: 16 }) + 400);
    // Mistral 3's images of 1540 pixels over a graph of ours: 1.1 GB of states, and no scores.
    const mistral3 = {
      model_type: 'mistral3',
      text_config: { hidden_size: 2048, intermediate_size: 6144, num_attention_heads: 16 },
      vision_config: { image_size: 1540, patch_size: 14 },
    };
    const ours = { spec: { ...chat, written: [] }, sizes: sizesOf(mistral3), image, workers: 2 };
    expect(predictMemory(ours).peakBytes / MB).toBeLessThan(2300);
    expect(predictMemory({ ...ours, spec: chat }).peakBytes / MB).toBeGreaterThan(20_000);
    const encoderDecoder = { ...chat, graphs: { ...chat.graphs, encoder_model: 'onnx/m.onnx' } };
    expect(sessionKind({ spec: encoderDecoder, workers: 2 })).toBe('encoder-decoder');
  });

  test('weights that are too large to be written once more are opened in one session', () => {
    expect(sessionKind({ spec: spec(4000 * MB), workers: 2 })).toBe('pool');
    expect(sessionKind({ spec: spec(5000 * MB), workers: 2 })).toBe('single');
  });

  test('weights beside the graph count, tokenizers count by their vocabulary', () => {
    const beside = { path: 'onnx/model.onnx_data', size: 100 * MB };
    const external = spec(MB, { files: [...spec(MB).files, beside] });
    expect(peak(external)).toBe(peak(spec(101 * MB)));
    const large = predictMemory({
      spec: spec(MB),
      sizes: { ...sizes, vocabulary: 250_000 },
      image,
      workers: 2,
    });
    expect(large.peakBytes - peak(spec(MB))).toBeGreaterThan(60 * MB);
  });

  test('sizes are found under the names that families give them', () => {
    expect(
      sizesOf({ n_embd: 768, n_layer: 6, n_head: 12, n_positions: 1024, vocab_size: 50257 }),
    ).toMatchObject({
      ...{ hidden: 768, layers: 6, heads: 12, positions: 1024, vocabulary: 50257, intermediate: 0 },
    });
    expect(sizesOf({ text_config: { hidden_size: 96 } }).hidden).toBe(96);
  });
});

describe('the verdict', () => {
  const formats = (['fp32', 'fp16', 'q8'] as Dtype[]).map((dtype, i) =>
    spec([400, 200, 100][i]! * MB, { dtype }),
  );
  const facts = { network: { sizes }, image } as Parameters<typeof forecastFormats>[0]['facts'];
  const forecasts = forecastFormats({ formats, facts }, defaultWorkers(2));
  const within = (bytes: number) => judgeFit(forecasts, { bytes, name: 'this machine' });

  test('enough memory', () => {
    expect(within(2000 * MB)).toMatchObject({ fits: true, neededBytes: forecasts[0]!.memory.peakBytes });
    expect(within(forecasts[0]!.memory.peakBytes).fits).toBe(true);
  });

  test('too little: another format that fits, or none', () => {
    expect(within(450 * MB)).toMatchObject({ fits: false, instead: 'q8' });
    expect(within(450 * MB).text).toMatch(
      /^does not fit this machine: needs .* take --dtype q8, which needs/,
    );
    expect(within(100 * MB)).not.toHaveProperty('instead');
    expect(within(100 * MB).text).toContain('no weight format');
  });
});
