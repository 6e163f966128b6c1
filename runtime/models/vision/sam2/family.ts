import { type Family, defineFamily } from '../../family.js';
import { convolution2d } from '../../layers/convolution.js';
import { channelsFirst } from '../../layers/norm.js';
import { resize } from '../../layers/patch-embed.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { type Sam2Config, sam2Config } from './config.js';
import { hieraStages } from './hiera.js';
import { layersBetween, type MaskModel, writeMasks } from '../sam/mask-decoder.js';

/** Images of one width, the fine ones first; some know of the coarser ones: float32 [rows, width, lines, columns]. */
function neckImages(g: GraphWriter, { images: c, prompts }: Sam2Config): Value[] {
  const stages = hieraStages(g, c.backbone_config, prompts.image_size);
  const size = { to: c.fpn_hidden_size, kernel: c.fpn_kernel_size, padding: c.fpn_padding };
  const found: Value[] = [];
  stages.toReversed().forEach(({ x, width: from }, i) => {
    const level = stages.length - 1 - i;
    const read = convolution2d(g, channelsFirst(g, x), `vision_encoder.neck.convs.${i}`, { ...size, from });
    const coarse = found[0];
    if (coarse === undefined || !c.fpn_top_down_levels.includes(level)) return found.unshift(read);
    const twice = g.node('Mul', [g.node('Shape', [coarse]), g.ints([1, 1, 2, 2])]);
    return found.unshift(g.node('Add', [read, resize(g, coarse, twice, { mode: 'nearest' })]));
  });
  return found;
}

/** Names and widths of what is said of an image, at four times the edge, at twice, and as it is. */
const parts = ({ masks: { hidden_size: width }, edge }: Sam2Config) =>
  [width / 8, width / 4, width].map((own, i) => ({
    name: `image_embeddings.${i}`,
    shape: [own, edge * 2 ** (2 - i), edge * 2 ** (2 - i)],
  }));

function writeImages(g: GraphWriter, c: Sam2Config): void {
  const width = c.masks.hidden_size;
  const [first, second, third] = neckImages(g, c) as [Value, Value, Value];
  const narrow = (x: Value, name: string, to: number) =>
    convolution2d(g, x, `mask_decoder.${name}`, { from: width, to, kernel: 1 });
  const none = g.node('Reshape', [g.weight('no_memory_embedding', [1, 1, width]), g.ints([width, 1, 1])]);
  const given = [
    narrow(first, 'conv_s0', width / 8),
    narrow(second, 'conv_s1', width / 4),
    g.node('Add', [third, none]),
  ];
  parts(c).forEach(({ name, shape }, i) => g.output(name, given[i]!, 'float32', ['rows', ...shape]));
}

function maskModel({ prompts, masks, edge }: Sam2Config): Omit<MaskModel, 'finer'> {
  const width = masks.hidden_size;
  const mlp = { from: width, inner: masks.mlp_dim, to: width, depth: masks.num_hidden_layers };
  const labels = `prompt_encoder.point_embed.weight`;
  return {
    two: {
      ...{ width, heads: masks.num_attention_heads, layers: masks.num_hidden_layers, out: 'o_proj' },
      ...{ rate: masks.attention_downsample_rate, epsilon: 1e-5, edge, waves: width / 2 },
      feedForward: (g, x, name) => layersBetween(g, x, name, mlp),
    },
    ...{ pixels: prompts.image_size, count: masks.num_multimask_outputs },
    before: ['obj_score_token', 'iou_token'],
    scores: { inner: masks.iou_head_hidden_dim, depth: masks.iou_head_depth, isShare: true },
    label: (g, label) => {
      const table = g.weight(labels, [prompts.num_point_embeddings, width]);
      return g.node('Reshape', [g.node('Gather', [table, g.ints([label], [])]), g.ints([1, 1, width])]);
    },
  };
}

const heads: Family<Sam2Config>['heads'] = {
  'mask-generation': {
    vision_encoder: writeImages,
    prompt_encoder_mask_decoder: (g, c) => {
      const [first, second, image] = parts(c).map(({ name, shape }) =>
        g.input(name, 'float32', [1, ...shape]),
      ) as [Value, Value, Value];
      writeMasks(g, image, { ...maskModel(c), finer: { first, second } });
    },
  },
};

/** Images are read by Hiera, and masks know of its finer stages, too; of videos single images are read. modeling_sam2.py */
export const sam2 = defineFamily({
  ...{
    modelTypes: ['sam2', 'sam2_video'],
    inert: [
      {
        fields:
          /^(?:memory_|mask_downsampler_|multimask_|sigmoid_|enable_|num_maskmem|max_object_pointers|max_cond_frame)/,
        reason: 'memory between frames: images are served',
      },
    ],
    readers: { processor: 'Sam2' },
    config: sam2Config,
    prefixes: ['sam2.'],
    heads,
  },
});
