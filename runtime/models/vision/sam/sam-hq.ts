import { type Family, defineFamily, UNCHECKED_MEMORY } from '../../family.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { imageInput } from '../../layers/patch-embed.js';
import { channelsFirst } from '../../layers/norm.js';
import { type SamConfig, samHqConfig } from './config.js';
import { samMasks } from './family.js';
import { samNeck, samStates } from './image-encoder.js';
import { normedGelu, twice, writeMasks } from './mask-decoder.js';

const EMBEDDINGS = 'image_embeddings';
const FEATURES = 'quality_features';

/** At four times the edge, an eighth of the width. */
const shapes = ({ images: { edge }, masks: { hidden_size: width } }: SamConfig) => ({
  [EMBEDDINGS]: [width, edge, edge],
  [FEATURES]: [width / 8, 4 * edge, 4 * edge],
});

/** Twice enlarged, a norm between: float32 [rows, from, lines, columns] -> [rows, width / 8, 4 · lines, 4 · columns]. */
function fourTimes(
  g: GraphWriter,
  x: Value,
  name: { first: string; norm: string; second: string },
  [from, inner, to]: readonly [number, number, number],
): Value {
  const first = twice(g, x, name.first, { from, to: inner });
  return twice(g, normedGelu(g, first, name.norm, inner), name.second, { from: inner, to });
}

function writeImages(g: GraphWriter, c: SamConfig): void {
  const { images, masks } = c;
  const width = masks.hidden_size;
  const pixels = imageInput(g, images.num_channels, [images.image_size, images.image_size]);
  const states = samStates(g, images, pixels);
  const found = samNeck(g, states.at(-1)!, images, 'vision_encoder.neck');
  const own = fourTimes(
    ...([g, found, { first: 'encoder_conv1', norm: 'encoder_norm', second: 'encoder_conv2' }] as const),
    [width, width / 4, width / 8],
  );
  const early = earlyState(c);
  const known = early === undefined ? own : g.node('Add', [own, compressed(g, states[early]!, c)]);
  const given = [found, known];
  Object.entries(shapes(c)).forEach(([name, shape], i) =>
    g.output(name, given[i]!, 'float32', ['rows', ...shape]),
  );
}

/** Which state knows of the image's edges: that behind the first layer in which all patches see each other. */
function earlyState({ images: c }: SamConfig): number | undefined {
  const layer = Array.from({ length: c.num_hidden_layers }, (_, i) => i).find(
    (i) => c.window_size === 0 || c.global_attn_indexes.includes(i),
  );
  return layer === undefined ? undefined : layer + 1;
}

function compressed(g: GraphWriter, state: Value, { images, masks: { hidden_size: width } }: SamConfig) {
  const names = {
    ...{ first: 'compress_vit_conv1', norm: 'compress_vit_norm', second: 'compress_vit_conv2' },
  };
  return fourTimes(g, channelsFirst(g, state), names, [images.hidden_size, width, width / 8]);
}

const heads: Family<SamConfig>['heads'] = {
  'mask-generation': {
    vision_encoder: writeImages,
    prompt_encoder_mask_decoder: (g, c) => {
      const [image, quality] = Object.entries(shapes(c)).map(([name, shape]) =>
        g.input(name, 'float32', [1, ...shape]),
      ) as [Value, Value];
      writeMasks(g, image, { ...samMasks(c), quality });
    },
  },
};

/** SAM with one more mask of each prompt, which knows of an early state of the image and is added to the others. modeling_sam_hq.py */
export const samHq = defineFamily({
  modelTypes: ['sam_hq'],
  readers: { processor: 'Sam' },
  limits: ['Crops (`crops_n_layers`) are refused, on which Python’s own pipeline fails.', UNCHECKED_MEMORY],
  usualTask: 'mask-generation',
  config: samHqConfig,
  prefixes: ['sam_hq.'],
  heads,
});
