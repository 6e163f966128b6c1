import * as z from 'zod';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import { defineFamily } from '../family.js';
import {
  type InternVlConfig,
  internVlJoining,
  type InternVlNames,
  internVlVision,
  squaresOnly,
  writeInternVlEncoder,
} from './internvl.js';
import { languageModel } from './language-model.js';

const config = z.object({
  text_config: languageModel('qwen3'),
  vision_config: squaresOnly(internVlVision.extend({ attention_bias: z.boolean().default(true) })).prefault(
    {},
  ),
  ...internVlJoining,
});

const NAMES: InternVlNames = {
  layers: 'layers',
  parts: {
    ...{ attentionNorm: 'norm1', query: 'attn.qkv', output: 'attn.proj' },
    ...{ norm: 'norm2', wide: 'mlp.fc1', narrow: 'mlp.fc2' },
  },
  scales: ['ls1', 'ls2'],
};

/** InternVL in the layout of its makers, which transformers 5 reads and writes, before Qwen 3. modeling_qianfan_ocr.py */
export const qianfanOcr = defineFamily({
  modelTypes: ['qianfan_ocr'],
  readers: { prompts: { image: 'qianfan-ocr' } },
  usualTask: 'image-text-to-text',
  config,
  prefixes: [],
  parts: {
    // What transformers 5 saves has layers of the encoder's name in the language model, too.
    'model.layers.': ['language_model.model.layers.', 'language_model.model.encoder.layers.'],
    'model.': ['language_model.model.'],
    'lm_head.': ['language_model.lm_head.'],
    'vision_tower.embeddings.cls_token': ['vision_model.embeddings.class_embedding'],
    'vision_tower.embeddings.position_embeddings': ['vision_model.embeddings.position_embedding'],
    'vision_tower.embeddings.patch_embeddings.projection.': ['vision_model.embeddings.patch_embedding.'],
    'vision_tower.': ['vision_model.'],
    'multi_modal_projector.layer_norm.': ['mlp1.0.'],
    'multi_modal_projector.linear_1.': ['mlp1.1.'],
    'multi_modal_projector.linear_2.': ['mlp1.3.'],
  },
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<InternVlConfig>((c) => c.text_config),
      vision_encoder: (g, c: InternVlConfig) => writeInternVlEncoder(g, c, NAMES),
    },
  },
});
