import { type Family, defineFamily, UNCHECKED_MEMORY } from '../../family.js';
import { activation } from '../../layers/activation.js';
import { linear } from '../../layers/linear.js';
import { type SamConfig, samConfig } from './config.js';
import { type MaskModel, tableRow, writeMasks } from './mask-decoder.js';
import { samImages } from './image-encoder.js';

/** How masks are made of prompts, by the names of SAM and SAM-HQ. */
export function samMasks({ images, prompts, masks }: SamConfig): MaskModel {
  const { hidden_size: width, mlp_dim: inner } = masks;
  return {
    two: {
      ...{ width, heads: masks.num_attention_heads, layers: masks.num_hidden_layers },
      ...{ rate: masks.attention_downsample_rate, epsilon: masks.layer_norm_eps, out: 'out_proj' },
      ...{ edge: images.edge, waves: images.num_pos_feats },
      feedForward: (g, x, name) => {
        const wide = linear(g, x, `${name}.lin1`, { from: width, to: inner });
        return linear(g, activation(g, wide, masks.hidden_act), `${name}.lin2`, { from: inner, to: width });
      },
    },
    ...{ pixels: prompts.image_size, count: masks.num_multimask_outputs, before: ['iou_token'] },
    scores: { inner: masks.iou_head_hidden_dim, depth: masks.iou_head_depth, isShare: false },
    label: (g, label) => tableRow(g, `point_embed.${label}`, width),
  };
}

const heads: Family<SamConfig>['heads'] = {
  'mask-generation': {
    vision_encoder: (g, { images: c }) =>
      g.output('image_embeddings', samImages(g, c), 'float32', ['rows', c.output_channels, c.edge, c.edge]),
    prompt_encoder_mask_decoder: (g, c) => {
      const { edge } = c.images;
      const shape = [1, c.masks.hidden_size, edge, edge];
      writeMasks(g, g.input('image_embeddings', 'float32', shape), samMasks(c));
    },
  },
};

/** An image is read once, and prompts of points are answered with masks. modeling_sam.py */
export const sam = defineFamily({
  modelTypes: ['sam'],
  readers: { processor: 'Sam' },
  limits: ['Crops (`crops_n_layers`) are refused, on which Python’s own pipeline fails.', UNCHECKED_MEMORY],
  usualTask: 'mask-generation',
  config: samConfig,
  prefixes: ['sam.'],
  heads,
});
