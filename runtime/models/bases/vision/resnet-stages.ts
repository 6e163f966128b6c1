import { activation } from '../../layers/activation.js';
import { type NormedNames, type NormedSize, normedConvolution } from '../../layers/convolution.js';
import { halvedByLargest } from '../../layers/pooling.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';

/** The convolutions of ResNet, under the names that a library has for them. */

export interface ResidualSize {
  num_channels: number;
  embedding_size: number;
  hidden_sizes: readonly number[];
  depths: readonly number[];
  layer_type: 'basic' | 'bottleneck';
  hidden_act: string;
  downsample_in_first_stage: boolean;
  downsample_in_bottleneck: boolean;
  /** The kind "vd": three small convolutions first, and images of shortcuts halved by means. */
  isDeep?: boolean;
}

interface Place {
  stage: number;
  layer: number;
}

export interface ResidualNames {
  stem: NormedNames;
  /** Of the convolutions first of the kind "vd". */
  deepStem?(part: number): NormedNames;
  part(place: Place & { part: number }): NormedNames;
  /** @param isPooled where the image is halved before */
  shortcut(place: Place, isPooled: boolean): NormedNames;
}

/** Of the width within a bottleneck. */
const REDUCTION = 4;

interface LayerSize {
  from: number;
  to: number;
  stride: number;
}

interface LayerOf extends LayerSize {
  c: ResidualSize;
  names: ResidualNames;
  place: Place;
}

/** Convolutions beside a shortcut, which is one, too, where sizes change. */
function layer(g: GraphWriter, x: Value, { c, names, place, ...size }: LayerOf): Value {
  const found = convolutions(c, size).reduce(
    (read, one, part) => normedConvolution(g, read, names.part({ ...place, part }), one),
    x,
  );
  const kept = shortcut(g, x, { c, names, place, ...size });
  return activation(g, g.node('Add', [found, kept]), c.hidden_act);
}

function shortcut(g: GraphWriter, x: Value, { c, names, place, from, to, stride }: LayerOf): Value {
  const isBasic = c.layer_type === 'basic';
  const changes = from !== to || stride !== 1 || (c.isDeep === true && isBasic && place.layer === 0);
  if (!changes) return x;
  const isPooled = c.isDeep === true && (isBasic ? from !== to : stride === 2);
  const pooling = { kernel_shape: [2, 2], strides: [2, 2], ceil_mode: 1 };
  const read = isPooled ? g.node('AveragePool', [x], pooling) : x;
  const size = { from, to, stride: isPooled ? 1 : stride, kernel: 1 };
  return normedConvolution(g, read, names.shortcut(place, isPooled), size);
}

/** Only the last activation of a layer is the configured one. */
function convolutions(c: ResidualSize, { from, to, stride }: LayerSize): NormedSize[] {
  const act = 'relu';
  if (c.layer_type === 'basic')
    return [
      { from, to, stride, kernel: 3, act },
      { from: to, to, kernel: 3 },
    ];
  const inner = Math.floor(to / REDUCTION);
  const [first, second] = c.downsample_in_bottleneck ? [stride, 1] : [1, stride];
  return [
    { from, to: inner, kernel: 1, stride: first, act },
    { from: inner, to: inner, kernel: 3, stride: second, act },
    { from: inner, to, kernel: 1 },
  ];
}

function stemOf(g: GraphWriter, pixels: Value, c: ResidualSize, names: ResidualNames): Value {
  const { num_channels: from, embedding_size: to, hidden_act: act } = c;
  if (!c.isDeep || !names.deepStem)
    return normedConvolution(g, pixels, names.stem, { from, to, kernel: 7, stride: 2, act });
  const half = Math.floor(to / 2);
  const sizes = [
    { from, to: half, stride: 2 },
    { from: half, to: half },
    { from: half, to },
  ];
  const written = (x: Value, size: (typeof sizes)[number], part: number) =>
    normedConvolution(g, x, names.deepStem!(part), { ...size, kernel: 3, act });
  return sizes.reduce(written, pixels);
}

/** What the first stage reads, and what each gives: float32 [rows, width, lines, columns]. */
export function residualStages(
  g: GraphWriter,
  pixels: Value,
  c: ResidualSize,
  names: ResidualNames,
): Value[] {
  const stem = stemOf(g, pixels, c, names);
  const pooled = halvedByLargest(g, stem);
  const found = [pooled];
  c.hidden_sizes.forEach((to, stage) => {
    let x = found.at(-1)!;
    const halves = stage > 0 || c.downsample_in_first_stage;
    for (let i = 0; i < (c.depths[stage] ?? 0); i++) {
      const from = i > 0 ? to : (c.hidden_sizes[stage - 1] ?? c.embedding_size);
      const stride = i === 0 && halves ? 2 : 1;
      x = layer(g, x, { c, names, place: { stage, layer: i }, from, to, stride });
    }
    found.push(x);
  });
  return found;
}
