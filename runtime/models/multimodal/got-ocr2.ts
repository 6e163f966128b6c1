import * as z from 'zod';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import { size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { convolution2d } from '../layers/convolution.js';
import { linear } from '../layers/linear.js';
import { tokensOf } from '../layers/patch-embed.js';
import { imageFields, withGrid } from '../vision/sam/config.js';
import { samImages } from '../vision/sam/image-encoder.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { languageModel, PARTS } from './language-model.js';

/** What Python's class takes for a language model that is left out. */
const TEXT = {
  ...{ vocab_size: 151_860, hidden_size: 1024, intermediate_size: 2816, num_hidden_layers: 24 },
  ...{ num_attention_heads: 16, num_key_value_heads: 16, max_position_embeddings: 32_768 },
  ...{ rope_theta: 1e6, tie_word_embeddings: true, sliding_window: 4096, max_window_layers: 21 },
};

const config = z.object({
  text_config: languageModel('qwen2', TEXT),
  vision_config: imageFields
    .extend({ mlp_dim: size.default(3072) })
    .transform(withGrid)
    .prefault({}),
});
type Config = z.output<typeof config>;

/** Half as many lines and columns, twice: float32 [rows, features, width]. */
function projected(g: GraphWriter, x: Value, { vision_config: c, text_config: text }: Config): Value {
  const [from, to] = [c.output_channels, text.width];
  const halved = (read: Value, name: string, sizes: { from: number; to: number }) =>
    convolution2d(g, read, `multi_modal_projector.${name}`, {
      ...{ ...sizes, kernel: 3, stride: 2, padding: 1, bias: false },
    });
  const first = halved(x, 'conv_upsampler1', { from, to: 2 * from });
  const tokens = tokensOf(g, halved(first, 'conv_upsampler2', { from: 2 * from, to }));
  return linear(g, tokens, 'multi_modal_projector.multimodal_projector', { from: to, to });
}

function writeEncoder(g: GraphWriter, c: Config): void {
  const features = projected(g, samImages(g, c.vision_config), c);
  g.output('image_features', features, 'float32', ['rows', 'features', c.text_config.width]);
}

/** SAM's encoder before Qwen 2, for texts in images. modeling_got_ocr2.py */
export const gotOcr2 = defineFamily({
  modelTypes: ['got_ocr2'],
  readers: { prompts: { image: 'got-ocr2' } },
  memory: { visionInner: ({ vision_config: c }: Config) => c.inner },
  usualTask: 'image-text-to-text',
  limits: [
    'One message of the user, with images and what is asked of them (`OCR with format: `); without a text it is what Python asks.',
  ],
  config,
  prefixes: [],
  parts: { ...PARTS, 'vision_encoder.': ['model.vision_tower.', 'vision_tower.'] },
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Config>((c) => c.text_config),
      vision_encoder: writeEncoder,
    },
  },
});

/** GOT-OCR 2's network, whose prompts are those of a chat template. configuration_pp_chart2table.py */
export const ppChart2Table = defineFamily({
  ...gotOcr2,
  modelTypes: ['pp_chart2table'],
  readers: { prompts: { image: 'pp-chart2table' } },
  limits: [],
});
