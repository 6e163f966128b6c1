import { imageMemory } from '../../../../../builder/plan/vision/image-memory.js';
import type { Json } from '../../../../../builder/plan/network/config-fields.js';

const MB = 1e6;

const square = (edge: number): Json => ({
  image_processor_type: 'ViTImageProcessor',
  size: { height: edge, width: edge },
});
const DETR: Json = {
  image_processor_type: 'DetrImageProcessor',
  size: { shortest_edge: 800, longest_edge: 1333 },
};

const VIT: Json = { hidden_size: 768, num_attention_heads: 12, intermediate_size: 3072, patch_size: 16 };
const YOLOS: Json = {
  ...{ hidden_size: 384, num_attention_heads: 6, intermediate_size: 1536 },
  ...{ patch_size: 16, num_detection_tokens: 100 },
};
const SEGFORMER: Json = {
  ...{ hidden_sizes: [32, 64, 160, 256], depths: [2, 2, 2, 2], num_attention_heads: [1, 2, 5, 8] },
  ...{ sr_ratios: [8, 4, 2, 1], mlp_ratios: [4, 4, 4, 4], strides: [4, 2, 2, 2] },
};
const RESNET: Json = { model_type: 'resnet', embedding_size: 64, hidden_sizes: [256, 512, 1024, 2048] };

const DEFORMABLE: Json = {
  ...{ backbone_config: RESNET, d_model: 256, encoder_ffn_dim: 1024 },
  ...{ num_feature_levels: 4, encoder_n_points: 4 },
};
const swin = (width: number, heads: number, window: number): Json => ({
  ...{ embed_dim: width, depths: [2, 2, 6, 2], window_size: window, patch_size: 4 },
  num_heads: [1, 2, 4, 8].map((times) => times * heads),
});
const [SWIN, SWIN_12] = [swin(96, 3, 7), swin(128, 4, 12)];
const MASKS: Json = {
  image_processor_type: 'MaskFormerImageProcessor',
  size: { shortest_edge: 512, longest_edge: 2048 },
};
const HIERA: Json = {
  ...{ embed_dim_per_stage: [96, 192, 384, 768], patch_stride: [4, 4], hidden_size: 96 },
};

const own = (config: Json, processing: Json): number => imageMemory(config, processing).run.own;
const times = (large: number, small: number): number => Math.round((large / small) * 10) / 10;

describe('a run with one image', () => {
  test('what ONNX Runtime was measured to take', () => {
    // Sessions over the written copy of a graph, one image of 1000 x 750 (docs/measurements.md).
    const measured: [Json, Json, number][] = [
      [YOLOS, { ...DETR, image_processor_type: 'YolosImageProcessor' }, 102],
      [{ backbone_config: RESNET, d_model: 256, encoder_ffn_dim: 2048 }, DETR, 175],
      [{ ...SEGFORMER, decoder_hidden_size: 256 }, square(512), 78],
      [{ ...VIT, neck_hidden_sizes: [96, 192, 384, 768], fusion_hidden_size: 256 }, square(384), 230],
      [{ hidden_sizes: [128, 256, 512, 1024], depths: [3, 3, 27, 3], patch_size: 4 }, square(384), 85],
    ];
    for (const [config, processing, megabytes] of measured) {
      const ratio = own(config, processing) / (megabytes * MB);
      expect(ratio).toBeGreaterThan(1);
      expect(ratio).toBeLessThan(1.3);
    }
  });

  test.each<[string, Json, Json, number]>([
    // Peaks of networks of real size with random weights less weights and processes (bench/query-networks.py), in MB.
    ['deformable levels are sampled one after the other', DEFORMABLE, DETR, 309],
    ['the same with a wide feed-forward layer', { ...DEFORMABLE, ...SWIN, encoder_ffn_dim: 2048 }, DETR, 600],
    ["windows' scores stand beside their bias", { ...SWIN_12, mask_feature_size: 256 }, MASKS, 430],
    [
      "UperNet's stages in the size of the finest",
      { model_type: 'upernet', backbone_config: SWIN },
      square(512),
      380,
    ],
    ["Hiera's wide queries of fine cells", { backbone_config: HIERA }, square(1024), 790],
  ])('%s', (_, config, processing, megabytes) => {
    const ratio = own(config, processing) / (megabytes * MB);
    expect(ratio).toBeGreaterThan(0.85);
    expect(ratio).toBeLessThan(1.4);
  });

  test('exports sample all deformable levels together', () => {
    const { run } = imageMemory(DEFORMABLE, DETR);
    expect(times(run.exported, run.own)).toBe(2.6);
    const more = imageMemory({ ...DEFORMABLE, encoder_n_points: 8 }, DETR).run;
    expect(more.own).toBeGreaterThan(1.2 * run.own);
  });

  test('GLPN decodes to the size of the image', () => {
    const glpn = {
      model_type: 'glpn',
      hidden_sizes: [64, 128, 320, 512],
      depths: [3, 8, 27, 3],
      decoder_hidden_size: 64,
    };
    const run = own(glpn, { image_processor_type: 'GLPNImageProcessor' });
    // Measured with 1000 x 750: 694 MB with what was read and not yet collected.
    expect(run / (600 * MB)).toBeGreaterThan(1);
    expect(run / (600 * MB)).toBeLessThan(1.2);
  });

  test('states of a transformer grow with its patches', () => {
    expect(times(own(VIT, square(448)), own(VIT, square(224)))).toBe(4);
    expect(times(own({ ...VIT, patch_size: 8 }, square(224)), own(VIT, square(224)))).toBe(4);
    expect(own({ ...YOLOS, num_detection_tokens: 1000 }, square(512))).toBeGreaterThan(
      1.5 * own(YOLOS, square(512)),
    );
  });

  test('scores of all pairs of tokens are held by exports only', () => {
    const { run } = imageMemory(YOLOS, { ...DETR, image_processor_type: 'YolosImageProcessor' });
    const tokens = 50 * 67 + 101;
    expect((run.exported - run.own) / (1.25 * 4 * 2 * 6 * tokens ** 2)).toBeCloseTo(1, 1);
  });

  test('exports of SegFormer join its stages', () => {
    const { run } = imageMemory({ ...SEGFORMER, decoder_hidden_size: 256 }, square(512));
    // Measured: 200 MB over an export, 78 over a graph of ours.
    expect(times(run.exported, run.own)).toBe(2.5);
  });

  test('of several levels only what is encoded counts', () => {
    const rtDetr = { d_model: 256, encoder_ffn_dim: 1024, num_feature_levels: 3, use_timm_backbone: false };
    const squares = square(640);
    expect(own({ ...rtDetr, encode_proj_layers: [2] }, squares)).toBeLessThan(0.1 * own(rtDetr, squares));
    const masks = { mask_feature_size: 16, encoder_feedforward_dim: 1024, feature_strides: [4, 8, 16, 32] };
    expect(own({ ...masks, d_model: 256 }, squares)).toBe(own(rtDetr, squares));
  });

  test('images that keep their proportions are reckoned with the longest, too', () => {
    const { run, longest } = imageMemory({ backbone_config: RESNET, d_model: 256 }, DETR);
    expect(longest.own).toBeGreaterThan(1.15 * run.own);
    const same = imageMemory(VIT, square(224));
    expect(same.longest).toEqual(same.run);
  });

  test.each<[string, Json, Json, Json]>([
    ['the stem', RESNET, { ...RESNET, embedding_size: 640 }, square(224)],
    ['the first stage', SEGFORMER, { ...SEGFORMER, hidden_sizes: [320, 64, 160, 256] }, square(512)],
    [
      'a backbone within',
      { d_model: 256, use_timm_backbone: false },
      { d_model: 256, backbone_config: SEGFORMER },
      square(64),
    ],
    [
      "timm's backbone, by its name",
      { d_model: 256, use_timm_backbone: false },
      { d_model: 256 },
      square(512),
    ],
    ['the decoder of stages', SEGFORMER, { ...SEGFORMER, decoder_hidden_size: 768 }, square(512)],
    ['the fused images of a neck', VIT, { ...VIT, fusion_hidden_size: 256 }, square(384)],
    [
      'masks and their features',
      { backbone_config: RESNET },
      { backbone_config: RESNET, mask_feature_size: 512 },
      DETR,
    ],
    [
      'levels of deformable attention',
      { d_model: 256, backbone_config: RESNET },
      { d_model: 256, backbone_config: RESNET, num_feature_levels: 4 },
      DETR,
    ],
    ["EoMT's larger patches", VIT, { ...VIT, num_upscale_blocks: 2 }, square(640)],
    ['frames', { ...VIT }, { ...VIT, num_frames: 16, tubelet_size: 2 }, square(224)],
    [
      "Swin's widths",
      {},
      { embed_dim: 192, depths: [2, 2, 18, 2], num_heads: [6, 12, 24, 48], patch_size: 4 },
      square(384),
    ],
  ])('%s counts', (_, without, with_, processing) => {
    expect(own(with_, processing)).toBeGreaterThan(1.05 * own(without, processing));
  });
});

describe('beside runs', () => {
  test('tensors that were read stay until V8 collects them: of images, masks and depths', () => {
    const small = imageMemory(VIT, square(224)).tensors;
    expect(small).toBe(8 * 4 * 3 * 224 * 224);
    const large = imageMemory(VIT, square(2048)).tensors;
    expect(large).toBe(2 ** 26 + 4 * 3 * 2048 * 2048);
    const labels = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [i, `class ${i}`]));
    const segments = imageMemory({ ...SEGFORMER, decoder_hidden_size: 256, id2label: labels }, square(512));
    expect(segments.tensors - imageMemory(SEGFORMER, square(512)).tensors).toBe(
      2 ** 26 + 4 * 150 * 128 * 128,
    );
    // UperNet's scores have the image's size: what was read stays beside the next, however large.
    const upernet = { model_type: 'upernet', backbone_config: SWIN };
    const without = imageMemory(upernet, square(512)).tensors - 8 * 4 * 2 * 512 ** 2;
    expect(imageMemory({ ...upernet, id2label: labels }, square(512)).tensors - without).toBe(
      2 * 4 * 150 * 512 ** 2,
    );
    const depths = imageMemory({ ...VIT, fusion_hidden_size: 64 }, square(384));
    expect(depths.tensors - imageMemory(VIT, square(384)).tensors).toBe(8 * 4 * 384 * 384);
  });

  test("BEiT's tables for pairs of tokens are computed for each layer when a session is opened", () => {
    const beit = { ...VIT, num_hidden_layers: 12, use_relative_position_bias: true };
    expect(imageMemory(beit, square(384)).folded).toBe(4 * 12 * 12 * 577 ** 2);
    expect(imageMemory(VIT, square(384)).folded).toBe(0);
  });
});

test.each<[string, Json]>([
  ['nothing', {}],
  [
    'text and lists',
    { hidden_size: 'wide', patch_size: [[]], depths: 'deep', embed_dim: {}, backbone_config: [] },
  ],
  [
    'endless fields',
    {
      hidden_size: 64,
      intermediate_size: 1e308,
      patch_size: 1e-300,
      num_frames: Infinity,
      mask_feature_size: 1e300,
    },
  ],
  [
    'endless stages',
    { model_type: 'resnet', hidden_sizes: Array(1e5).fill(1e9), num_feature_levels: 1e6, d_model: 8 },
  ],
])('a configuration of %s gives finite figures', (_, config) => {
  const { run, longest, tensors, folded } = imageMemory(config, {});
  for (const bytes of [run.own, run.exported, longest.own, tensors, folded]) {
    expect(Number.isFinite(bytes)).toBe(true);
    expect(bytes).toBeGreaterThanOrEqual(0);
  }
});
