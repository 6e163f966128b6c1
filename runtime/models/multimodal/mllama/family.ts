import * as z from 'zod';
import { decoderHeads, embeddedDecoderRoles } from '../../bases/decoder/decoder-heads.js';
import { defineFamily } from '../../family.js';
import { linear } from '../../layers/linear.js';
import type { GraphWriter } from '../../writer/graph-writer.js';
import { PARTS } from '../language-model.js';
import { patchesOf, textConfig, textLayersOf, visionConfig } from './config.js';
import { crossDecoder, plainDecoder, writeCrossKeys } from './decoder.js';
import { writeTower } from './tower.js';

const config = z.object({ text_config: textConfig.prefault({}), vision_config: visionConfig.prefault({}) });
type Config = z.output<typeof config>;

function writeEncoder(g: GraphWriter, { vision_config: c, text_config: text }: Config): void {
  const size = { from: c.vision_output_dim, to: text.hidden_size };
  const features = linear(g, writeTower(g, c), 'multi_modal_projector', size);
  g.output('image_features', features, 'float32', ['rows', 'features', text.hidden_size]);
}

/** Llama 3.2 Vision, some of whose layers look at images. modeling_mllama.py */
export const mllama = defineFamily({
  modelTypes: ['mllama'],
  readers: { prompts: { image: 'mllama' } },
  memory: {
    unmaskedVision: true,
    keyLayers: (c) => textLayersOf(c.text_config),
    patches: ({ vision_config: c }) => c.max_num_tiles * patchesOf(c),
  },
  usualTask: 'image-text-to-text',
  config,
  prefixes: [],
  parts: { ...PARTS, 'vision_model.': ['model.vision_model.', 'vision_model.'] },
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Config>((c) => crossDecoder(c.text_config)),
      cross_key_values: (g: GraphWriter, c: Config) => writeCrossKeys(g, c.text_config),
      vision_encoder: writeEncoder,
    },
  },
});

/** Its language model alone, which leaves these layers out. */
export const mllamaText = defineFamily({
  modelTypes: ['mllama_text_model'],
  config: textConfig,
  memory: { keyLayers: textLayersOf },
  prefixes: ['model.'],
  heads: { 'causal-lm': decoderHeads(plainDecoder)['causal-lm']! },
});
