import { findLogitScale } from '../../../../../runtime/engines/encoders/joint/text-embeddings.js';

const tensor = (values: number[], dims: number[]) => ({
  type: 'float32',
  data: Float32Array.from(values),
  dims,
});

/** Products 1, 0 and 0.5. */
const embeds = { image_embeds: tensor([1, 0], [1, 2]), text_embeds: tensor([1, 0, 0, 1, 0.5, 0.5], [3, 2]) };

test('scale and bias follow from what a run gave', () => {
  const outputs = { ...embeds, logits_per_image: tensor([90, -10, 40], [1, 3]) };
  expect(findLogitScale(outputs)).toEqual({ scale: 100, bias: -10 });
});

test('logits that follow from something else have none', () => {
  expect(findLogitScale({ ...embeds, logits_per_image: tensor([90, -10, 41], [1, 3]) })).toBeUndefined();
  expect(findLogitScale({ logits_per_image: tensor([90, -10], [1, 2]) })).toBeUndefined();
  const alike = {
    ...embeds,
    text_embeds: tensor([1, 0, 1, 0], [2, 2]),
    logits_per_image: tensor([5, 5], [1, 2]),
  };
  expect(findLogitScale(alike)).toBeUndefined();
});
