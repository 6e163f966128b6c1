import type { Family } from '../../family.js';
import { convolution2d } from '../../layers/convolution.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { layersBetween, type MaskModel, writeMasks } from '../sam/mask-decoder.js';
import type { PromptParts } from './config.js';

/** How an encoder of images says what it sees at four times the edge, at twice, and as it is. */
export interface Levels<C> {
  /** float32 [rows, width, lines, columns] each, the fine ones first; more are not read. */
  write(g: GraphWriter, config: C): Value[];
  /** False where what stands for the lack of former frames is added to a level that is not read. */
  knowsNoMemory?(config: C): boolean;
  /** True where points have waves of their own, which in published files are those of cells. */
  ownWaves?: boolean;
}

/** Names and widths of the levels. */
const parts = ({ masks: { hidden_size: width }, edge }: PromptParts) =>
  [width / 8, width / 4, width].map((own, i) => ({
    name: `image_embeddings.${i}`,
    shape: [own, edge * 2 ** (2 - i), edge * 2 ** (2 - i)],
  }));

function writeImages<C extends PromptParts>(g: GraphWriter, c: C, levels: Levels<C>): void {
  const width = c.masks.hidden_size;
  const [first, second, third] = levels.write(g, c) as [Value, Value, Value];
  const narrow = (x: Value, name: string, to: number) =>
    convolution2d(g, x, `mask_decoder.${name}`, { from: width, to, kernel: 1 });
  const none =
    (levels.knowsNoMemory?.(c) ?? true)
      ? g.node('Reshape', [g.weight('no_memory_embedding', [1, 1, width]), g.ints([width, 1, 1])])
      : undefined;
  const given = [
    narrow(first, 'conv_s0', width / 8),
    narrow(second, 'conv_s1', width / 4),
    none === undefined ? third : g.node('Add', [third, none]),
  ];
  parts(c).forEach(({ name, shape }, i) => g.output(name, given[i]!, 'float32', ['rows', ...shape]));
}

function maskModel({ prompts, masks, edge }: PromptParts): Omit<MaskModel, 'finer'> {
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

/** Images are read once, and prompts of points are answered with masks that know of the finer levels, too. */
export function levelHeads<C extends PromptParts>(levels: Levels<C>): Family<C>['heads'] {
  return {
    'mask-generation': {
      vision_encoder: (g, c) => writeImages(g, c, levels),
      prompt_encoder_mask_decoder: (g, c) => {
        const [first, second, image] = parts(c).map(({ name, shape }) =>
          g.input(name, 'float32', [1, ...shape]),
        ) as [Value, Value, Value];
        writeMasks(g, image, {
          ...{ ...maskModel(c), finer: { first, second } },
          ...(levels.ownWaves && { ownWaves: 'prompt_encoder.shared_embedding.positional_embedding' }),
        });
      },
    },
  };
}
