import { randomInt } from 'node:crypto';
import ort from 'onnxruntime-node';
import type { Tensor } from 'onnxruntime-node';
import { torchBernoulli } from '../../../core/torch-generator.js';
import { firstNumber, type Json } from '../../repository/model-folder.js';

const SEEDS = 2 ** 47;

/** SpeechT5Config */
const DEFAULTS = { layers: 2, units: 256, dropout: 0.5 };

/**
 * Dropout of the layers that read frames, which is never off. Python reads all frames in each step and draws for all of them,
 * of which the last one's masks count: with a seed, they are drawn alike.
 * @param seed of the request
 * @returns float32 [layers, units] for a step over so many frames
 */
export function drawMasks(config: Json, seed: unknown): (frames: number) => Tensor {
  const layers = firstNumber(config, 'speech_decoder_prenet_layers') ?? DEFAULTS.layers;
  const units = firstNumber(config, 'speech_decoder_prenet_units') ?? DEFAULTS.units;
  // A share of 0 keeps nothing, as in Python.
  const share = Number(config['speech_decoder_prenet_dropout'] ?? DEFAULTS.dropout);
  const draw = torchBernoulli(seed == null ? randomInt(SEEDS) : Number(seed));
  return (frames) => {
    const masks = new Float32Array(layers * units);
    for (let layer = 0; layer < layers; layer++) {
      const drawn = draw(seed == null ? units : frames * units, share);
      masks.set(drawn.subarray(drawn.length - units), layer * units);
    }
    return new ort.Tensor('float32', masks, [layers, units]);
  };
}
