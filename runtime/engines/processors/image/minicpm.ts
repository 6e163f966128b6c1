import { RunError } from '../../../core/errors.js';
import { roundHalfEven } from '../../../core/round-half-even.js';
import { finish } from '../../../core/steps.js';
import type { Image } from '../../../media/decoded-image.js';
import type { Json } from '../../repository/model-folder.js';
import { type Canvas, cut, MOST_TILES } from './canvas.js';
import { HALVES, readLevels } from './levels.js';
import { cutPatches } from './qwen2-vl.js';
import { roundedLog } from './rounded-log.js';
import type { Edges } from './sizes.js';
import { checkTorchSettings, resizedLikeTorch } from './torch-resize.js';

/** A slice, or a whole image, as rows of patches. */
export interface PatchedSlice {
  /** [patches, channels x patch x patch], line by line. */
  values: Float32Array;
  /** Patches of a column, and of a line. */
  grid: readonly [number, number];
}

/** How an image is read: whole, and in slices of one size behind it. */
export interface SlicedImage {
  whole: Edges;
  /** Undefined for an image that is not cut. */
  slices: (Canvas & { edges: Edges }) | undefined;
}

export interface SliceProcessor {
  readonly patch: number;
  /** Patches along an edge of a feature. */
  readonly factor: number;
  /** Of a slice, or of a whole image. */
  readonly mostPatches: number;
  /** @throws RunError 422 an image that becomes more patches than that */
  partsOf(size: Edges): SlicedImage;
  /** The whole image first, then slices row by row, made when they are asked for. @throws as `partsOf` */
  process(image: Image): (() => PatchedSlice)[];
}

interface Rules {
  patch: number;
  factor: number;
  /** Edge of a square of as many pixels as a slice gets. */
  edge: number;
  /** Most slices; 0 where images are not cut. */
  most: number;
  /** Images that are not cut get larger, too. */
  enlarges: boolean;
  mostPatches: number;
}

const BICUBIC = 3;

/** By the beginning of the class's name. */
const CLASSES: Readonly<Record<string, { mode: string; sizes: boolean }>> = {
  MiniCPMV4_6ImageProcessor: { mode: '16x', sizes: false },
  MiniCPMOcrImageProcessor: { mode: '4x', sizes: true },
};

/**
 * MiniCPMV4_6ImageProcessor and MiniCPMOcrImageProcessor, from preprocessor_config.json.
 * @param usual the class where the file names none
 * @throws RunError `not_ready` for settings that they fail with, or that are not known
 */
export function createSliceProcessor(config: Json, usual: string): SliceProcessor {
  const rules = rulesOf(config, usual);
  const { patch, factor, mostPatches } = rules;
  const { resample = BICUBIC } = checkTorchSettings({ resample: config['resample'] ?? BICUBIC });
  const levels = readLevels(config, HALVES);
  const patched = (image: Image): PatchedSlice => ({
    values: cutPatches([image], { patch, merge: 1, levels }),
    grid: [image.height / patch, image.width / patch],
  });
  return {
    ...{ patch, factor, mostPatches },
    partsOf: (size) => sliced(size, rules),
    process(image) {
      const { whole, slices } = sliced(image, rules);
      const to = (size: Edges) => finish(resizedLikeTorch(image, size, resample as number));
      const first = () => patched(to(whole));
      if (!slices) return [first];
      const { rows, columns, edges } = slices;
      const large = to({ height: rows * edges.height, width: columns * edges.width });
      const rest = Array.from({ length: rows * columns }, (_, i) => () => {
        return patched(cut(large, Math.floor(i / columns), i % columns, edges));
      });
      return [first, ...rest];
    },
  };
}

function rulesOf(config: Json, usual: string): Rules {
  const name = String(config['image_processor_type'] ?? usual).replace(/(?:Pil|Fast)$/, '');
  const known = Object.hasOwn(CLASSES, name) ? CLASSES[name] : undefined;
  if (!known) throw refused(`image_processor_type ${name} is not known for this model`);
  const value = (field: string, otherwise: unknown) => config[field] ?? otherwise;
  const count = (field: string, otherwise: number): number => {
    const given = value(field, otherwise);
    if (typeof given === 'number' && Number.isInteger(given) && given >= 1) return given;
    throw refused(`${field} is ${JSON.stringify(given)}, which is no number of this kind`);
  };
  if (value('do_resize', true) !== true) throw refused('do_resize must be true: Python fails without it');
  const [patch, edge, most] = [
    count('patch_size', 14),
    count('scale_resolution', 448),
    count('max_slice_nums', 9),
  ];
  if (most > MOST_TILES) throw refused(`max_slice_nums is more than ${MOST_TILES}`);
  const factor = value('downsample_mode', known.mode) === '4x' ? 2 : 4;
  const cells = Math.ceil(edge / (patch * factor)) + 1;
  return {
    ...{ patch, factor, edge },
    most: flag(value('slice_mode', true), 'slice_mode') ? most : 0,
    enlarges: !known.sizes || enlarges(value('small_image_upsize', 'always')),
    // Long images have more of them, as each edge has a cell.
    mostPatches: 2 * (cells * factor) ** 2,
  };
}

function flag(given: unknown, name: string): boolean {
  if (typeof given === 'boolean') return given;
  throw refused(`${name} is neither true nor false`);
}

function enlarges(given: unknown): boolean {
  if (given === 'always' || given === 'never') return given === 'always';
  throw refused('small_image_upsize must be always or never: it is not known how large letters are');
}

const refused = (what: string): RunError => new RunError('not_ready', `preprocessor_config.json: ${what}`);

function sliced(size: Edges, rules: Rules): SlicedImage {
  const canvas = rules.most > 0 ? gridOf(size, rules) : undefined;
  const whole = nearEdges(size, rules, !canvas && rules.enlarges);
  requirePatches(whole, rules);
  if (!canvas) return { whole, slices: undefined };
  const { rows, columns } = canvas;
  const part = {
    height: nearest(size.height, rows) / rows,
    width: nearest(size.width, columns) / columns,
  };
  const edges = nearEdges(part, rules, true);
  requirePatches(edges, rules);
  return { whole, slices: { rows, columns, edges } };
}

function requirePatches({ height, width }: Edges, { patch, mostPatches }: Rules): void {
  const patches = (height / patch) * (width / patch);
  if (patches <= mostPatches) return;
  throw new RunError('unprocessable', `the image becomes ${patches} patches, more than ${mostPatches}`);
}

/** A multiple, at least once. ensure_divide */
const nearest = (length: number, divisor: number): number =>
  Math.max(roundHalfEven(length / divisor) * divisor, divisor);

/** Edges of whole features, about as many pixels as a slice has. find_best_resize */
function nearEdges(size: Edges, { edge, patch, factor }: Rules, grows: boolean): Edges {
  let { height, width } = size;
  if (height * width > edge * edge || grows) {
    const aspect = width / height;
    height = Math.trunc(edge / Math.sqrt(aspect));
    width = Math.trunc(height * aspect);
  }
  return { height: nearest(height, patch * factor), width: nearest(width, patch * factor) };
}

/** About as many slices as the image has their pixels, in the form that is nearest to its own. get_sliced_grid */
function gridOf({ height, width }: Edges, { edge, most }: Rules): Canvas | undefined {
  const ratio = roundedLog(width / height);
  const multiple = Math.min(Math.ceil((width * height) / (edge * edge)), most);
  if (multiple <= 1) return undefined;
  let [best, least]: [Canvas, number] = [{ rows: 1, columns: 1 }, Infinity];
  for (const count of [multiple - 1, multiple, multiple + 1]) {
    if (count === 1 || count > most) continue;
    for (let rows = 1; rows <= count; rows++) {
      if (count % rows !== 0) continue;
      const columns = count / rows;
      const error = Math.abs(ratio - roundedLog(columns / rows));
      if (error < least || (error === least && rows > best.rows)) [best, least] = [{ rows, columns }, error];
    }
  }
  return best;
}
