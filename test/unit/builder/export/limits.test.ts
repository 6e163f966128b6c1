import { layersOf, requireBounded } from '../../../../builder/export/limits.js';
import type { WeightIndex } from '../../../../runtime/weights/index.js';

const index: WeightIndex = new Map(
  ['embeddings.weight', ...Array.from({ length: 3 }, (_, i) => `encoder.layer.${i}.dense.weight`)].map(
    (name) => [
      name,
      { file: 'model.safetensors', offset: 0, length: 4 * 9000 * 32, type: 'F32', shape: [9000, 32] },
    ],
  ),
);

const check = (config: Record<string, unknown>) => requireBounded('org/m', config, index);

describe('a configuration against the headers of its checkpoint', () => {
  test('parts with a number are counted once', () => expect(layersOf(index)).toBe(3));

  test.each([
    { num_hidden_layers: 64, hidden_size: 8192, vocab_size: 9000, max_position_embeddings: 1_000_000 },
    { depths: [3, 4, 18, 5], hidden_sizes: [64, 128, 320, 512], image_size: 100_000 },
    { text_config: { num_hidden_layers: 12 }, rope_theta: 10_000_000 },
  ])('what fits, and what no tensor has the size of: %j', (config) => {
    expect(() => check(config)).not.toThrow();
  });

  test.each([
    [{ num_hidden_layers: 10_000 }, 'num_hidden_layers is 10000'],
    [{ n_layers: 65 }, 'n_layers is 65'],
    [{ encoder_layers: 5000 }, 'encoder_layers is 5000'],
    [{ depths: [40, 40] }, 'depths is 80'],
    [{ hidden_size: 9001 }, 'hidden_size is 9001'],
    [{ text_config: { vocab_size: 2 ** 31 } }, 'text_config.vocab_size is 2147483648'],
    [{ hidden_sizes: [64, 1e9] }, 'hidden_sizes is 1000000000'],
  ])('what asks for more is refused by name: %j', (config, said) => {
    expect(() => check(config)).toThrow(said);
  });
});
