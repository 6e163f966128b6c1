import * as z from 'zod';
import type { Family } from '../family.js';
import { labelScores } from '../bases/vision/image-heads.js';
import type { Edges } from '../layers/patch-embed.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Shape, Value } from '../writer/graph-writer.js';

const edge = z
  .int()
  .min(1)
  .max(2 ** 14);

/** config.json of timm's repositories: a name that stands for all sizes, which the tensors have, too. */
const fields = z.object({
  architecture: z.string().max(200),
  num_classes: z
    .int()
    .min(0)
    .max(2 ** 20),
  // timm 1.0 repeats here what is known; what makes another network of the name is refused.
  model_args: z.record(z.string().max(200), z.unknown()).nullish(),
  label_names: z.array(z.string()).nullish(),
  pretrained_cfg: z.object({ input_size: z.tuple([edge, edge, edge]).nullish() }),
});

/** Numbers of classes that mean one of ImageNet's larger sets to timm, whose names are not kept here. */
const LARGER_SETS = new Set([11_221, 11_821, 21_841, 21_842, 21_843]);

export const timmConfig = fields
  .refine(({ num_classes, label_names }) => label_names || !LARGER_SETS.has(num_classes), {
    path: ['label_names'],
    message: 'the names of so many classes of ImageNet are not known',
  })
  .superRefine((config, context) => {
    for (const [name, value] of Object.entries(config.model_args ?? {})) {
      if (repeats(config, name, value)) continue;
      const message = 'it makes another network of the name, which is not known';
      context.addIssue({ code: 'custom', path: ['model_args', name], message });
    }
  });
export type TimmConfig = z.output<typeof timmConfig>;

/** True for an argument that says what the other fields say; how features are pooled is compared with the network (timmHeads). */
function repeats(config: z.output<typeof fields>, name: string, value: unknown): boolean {
  const [channels, ...edges] = config.pretrained_cfg.input_size ?? [3, 224, 224];
  if (name === 'num_classes') return value === config.num_classes;
  if (name === 'in_chans') return value === channels;
  if (name === 'img_size')
    return [value].flat().every((edge, i) => edge === edges[i]) && isEdges(value, edges);
  return name === 'global_pool' && typeof value === 'string';
}

/** One number stands for both edges of a square. */
const isEdges = (value: unknown, [height, width]: readonly number[]): boolean =>
  Array.isArray(value) ? value.length === 2 : height === width;

/** What images are cut to before networks of one size. */
export function inputEdges({ pretrained_cfg: { input_size: size } }: TimmConfig): Edges {
  return size ? [size[1], size[2]] : [224, 224];
}

/** Layers of a stage, or stages, that a checkpoint may have. */
const MOST = 128;

/** How many follow each other from 0 on, by the name of a tensor that each has. */
export function countOf(g: GraphWriter, nameOf: (place: number) => string): number {
  let count = 0;
  while (count < MOST && g.weights.has(nameOf(count))) count++;
  return count;
}

/** Shape of a tensor, of so many axes. @throws GraphError where there is none */
export function shapeOf(g: GraphWriter, name: string, axes: 4): [number, number, number, number];
export function shapeOf(g: GraphWriter, name: string, axes: 3): [number, number, number];
export function shapeOf(g: GraphWriter, name: string, axes: 2): [number, number];
export function shapeOf(g: GraphWriter, name: string, axes: number): number[] {
  const shape = g.weights.shapeOf(name);
  if (shape?.length !== axes)
    throw new GraphError(
      shape
        ? `${name} is [${shape.join(', ')}], but config.json makes it one of ${axes} axes`
        : `the weights lack ${name}, which this architecture has`,
    );
  return [...shape];
}

/** float32 [rows, width, lines, columns] and its width. */
export interface Channels {
  x: Value;
  width: number;
}

/** Groups of a convolution whose weight reads so many channels each. @throws GraphError where it can't */
export function groupsOf(from: number, each: number): number {
  if (from % each === 0) return from / each;
  throw new GraphError(
    `no graph can be written: a convolution over ${from} channels has a weight for ${each}`,
  );
}

interface Network {
  states(g: GraphWriter, c: TimmConfig): Value;
  /** Sizes of the states. */
  shape: Shape;
  /** float32 [rows, width]: what labels are told by, and timm's forward_head gives where there are none. */
  pool(g: GraphWriter, states: Value, c: TimmConfig): Value;
  /** What timm calls `pool`; `avg` if absent. */
  poolName?(g: GraphWriter, c: TimmConfig): string;
  /** Name of the last layer. */
  head: string;
}

/** Of networks whose last states are channels over lines and columns. */
export const IMAGE: Shape = ['rows', 'channels', 'lines', 'columns'];

/** Labels, or states and what is pooled of them. */
export function timmHeads(network: Network): Family<TimmConfig>['heads'] {
  const { states, shape, head, poolName = () => 'avg' } = network;
  const pool: Network['pool'] = (g, x, c) => {
    const [asked, own] = [c.model_args?.['global_pool'], poolName(g, c)];
    if (asked === undefined || asked === own) return network.pool(g, x, c);
    throw new GraphError(
      `config.json: model_args.global_pool: features are pooled by ${own} here, not ${String(asked)}`,
    );
  };
  return {
    'image-classification': {
      model(g, c) {
        if (c.num_classes === 0) throw new GraphError('config.json: num_classes is 0: it tells no labels');
        const x = states(g, c);
        const [labels, width] = shapeOf(g, `${head}.weight`, 2);
        if (labels !== c.num_classes)
          throw new GraphError(`${head}.weight has ${labels} labels, but config.json ${c.num_classes}`);
        const logits = labelScores(g, pool(g, x, c), { width, labels }, head);
        g.output('logits', logits, 'float32', ['rows', labels]);
      },
    },
    'image-features': {
      model(g, c) {
        const x = states(g, c);
        g.output('last_hidden_state', x, 'float32', shape);
        g.output('pooler_output', pool(g, x, c), 'float32', ['rows', 'features']);
      },
    },
  };
}
