import { networkFacts } from '../../../../../builder/plan/network/index.js';
import { imageRunBytes } from '../../../../../runtime/core/media-run-memory.js';
import { networkSizes } from '../../../../../runtime/core/network.js';
import { networkFacts as schema } from '../../../../../runtime/store/network-file.js';

const VIT = { hidden_size: 64, num_attention_heads: 4, intermediate_size: 256, patch_size: 16 };

test('parts of a network are the same after they were written to model.json and read', () => {
  const configs = [
    VIT,
    { model_type: 'resnet', embedding_size: 8, hidden_sizes: [16, 32] },
    { d_model: 32, backbone_config: VIT, num_feature_levels: 3 },
    { conv_stride: [5, 4], conv_dim: [32, 32], hidden_size: 64, num_attention_heads: 4 },
    { text_config: VIT, vision_config: VIT, audio_config: {} },
    { text_encoder: VIT, decoder: { hidden_size: 32 } },
    {},
  ];
  for (const config of configs) {
    const facts = networkFacts(config);
    const written = JSON.stringify(facts);
    expect(JSON.stringify(schema.parse(JSON.parse(written)))).toBe(written);
  }
});

test('an image of four times the patches takes four times the states, and sixteen times the scores in exports', () => {
  const { image = [] } = networkFacts(VIT);
  const [small, large] = [224, 448].map((edge) => imageRunBytes(image, { height: edge, width: edge }));
  const tokens = [197, 785];
  expect(small!.own).toBe(5 * tokens[0]! * (3 * 256 + 6 * 64));
  expect(large!.exported - large!.own).toBe(5 * 2 * 4 * tokens[1]! ** 2);
});

test('networks inside of a model have sizes of their own; others are the whole', () => {
  const network = networkFacts({ hidden_size: 8, text_encoder: { hidden_size: 16 } });
  expect(networkSizes({ network }, 'text_encoder').hidden).toBe(16);
  expect(networkSizes({ network }, 'decoder').hidden).toBe(8);
  expect(networkSizes({}).hidden).toBe(0);
});

test.each([
  ['a stride of nothing', { sizes: networkSizes({}), image: [{ strides: [0], states: 1 }] }],
  ['a negative size', { sizes: { ...networkSizes({}), hidden: -1 } }],
  ['no sizes', {}],
])('%s in model.json is refused', (_, network) => {
  expect(schema.safeParse(network).success).toBe(false);
});
