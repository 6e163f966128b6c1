import * as z from 'zod';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { linear } from '../layers/linear.js';
import type { GraphWriter } from '../writer/graph-writer.js';
import { imageEncoder } from './image-tower.js';
import { languageModel, PARTS } from './language-model.js';

/** Fields of DeepSeek-VL and of its hybrid. */
export const deepseekVlConfig = {
  text_config: languageModel('llama'),
  vision_config: imageEncoder('siglip_vision_model'),
};
const config = z.object(deepseekVlConfig);
type Config = z.output<typeof config>;

function writeEncoder(g: GraphWriter, { vision_config: tower, text_config: text }: Config): void {
  const seen = tower.finish(g, tower.states(g, tower.layers).at(-1)!);
  const wide = linear(g, seen, 'aligner.linear1', { from: tower.width, to: text.width });
  const features = linear(g, activation(g, wide, 'gelu'), 'aligner.linear2', {
    ...{ from: text.width, to: text.width },
  });
  g.output('image_features', features, 'float32', ['rows', 'features', text.width]);
}

/** SigLIP before Llama; images are made squares with bars. modeling_deepseek_vl.py */
export const deepseekVl = defineFamily({
  modelTypes: ['deepseek_vl'],
  readers: { prompts: { image: 'deepseek-vl' } },
  memory: { unmaskedVision: true },
  usualTask: 'image-text-to-text',
  limits: ['Edges of images are cut to whole pixels, as in transformers 4.57; 5 rounds them.'],
  config,
  prefixes: [],
  parts: {
    ...PARTS,
    'vision_model.': [
      'model.vision_model.vision_model.',
      'vision_model.vision_model.',
      'model.vision_model.',
    ],
    'aligner.': ['model.aligner.', 'aligner.'],
  },
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Config>((c) => c.text_config),
      vision_encoder: writeEncoder,
    },
  },
});
