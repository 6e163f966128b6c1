import { drawMasks } from '../../../../runtime/engines/speech/speecht5/dropout-masks.js';

const config = { speech_decoder_prenet_layers: 2, speech_decoder_prenet_units: 5 };

test('masks of the last frame are those that torch.bernoulli draws for all of them', () => {
  const masks = drawMasks({ ...config, speech_decoder_prenet_dropout: 0.5 }, 5)(2);
  // torch.manual_seed(5); torch.bernoulli(torch.zeros(20), p=0.5)
  const drawn = [0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 0];
  expect(masks.dims).toEqual([2, 5]);
  expect(Array.from(masks.data as Float32Array)).toEqual([...drawn.slice(5, 10), ...drawn.slice(15)]);
});

test('a share of 0 keeps nothing', () => {
  const masks = drawMasks({ ...config, speech_decoder_prenet_dropout: 0 }, undefined)(3);
  expect(Array.from(masks.data as Float32Array)).toEqual(new Array(10).fill(0));
});
