import { RunError } from '../../../../core/errors.js';
import { createCosmosPatchProcessor, createGlmPatchProcessor } from '../../../processors/image/glm4v.js';
import { createKimiPatchProcessor } from '../../../processors/image/kimi-k25.js';
import {
  createPaddlePatchProcessor,
  createPatchProcessor,
  type PatchProcessor,
} from '../../../processors/image/qwen2-vl.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import type { PromptPositions } from '../../decoding/prompt.js';
import type { FamilyFiles, ImageFamily, PlacedMedium } from './family.js';
import { clipToken, imageToken } from './image-token.js';

/** Qwen2-VL and Qwen2.5-VL: images of any size, cut into patches, with positions on three axes. */
export const createQwen2VlFamily = (files: FamilyFiles): ImageFamily =>
  patchFamily(files, createPatchProcessor(files.processing));

/** The same without videos: texts that hold their token are refused. */
export const createCohereCompassFamily = (files: FamilyFiles): ImageFamily => ({
  ...createQwen2VlFamily(files),
  foreign: [clipToken(files, '<|VIDEO_PAD|>').placeholder],
});

/** The same with another rule for small images. */
export const createPaddleOcrFamily = (files: FamilyFiles): ImageFamily =>
  patchFamily(files, createPaddlePatchProcessor(files.processing));

/** The same with limits of pixels over all frames of a step. */
export const createGlm4vFamily = (files: FamilyFiles): ImageFamily =>
  patchFamily(files, createGlmPatchProcessor(files.processing));

/** The same, where another class is usual. */
export const createGlmgaFamily = (files: FamilyFiles): ImageFamily =>
  patchFamily(files, createGlmPatchProcessor(files.processing, 'GlmgaImageProcessor'));

/**
 * Cosmos 3 Edge: the same for images of one frame; texts that hold the token of videos are refused.
 * @throws RunError not_ready where the processor's patches are not those of the network: Python fails at each image
 */
export function createCosmos3EdgeFamily(files: FamilyFiles): ImageFamily {
  const { config, processing } = files;
  const vision = (config['vision_config'] ?? {}) as Json;
  for (const [own, other, usual] of COSMOS_SIZES)
    if ((firstNumber(processing, own) ?? usual) !== (firstNumber(vision, other) ?? usual))
      throw new RunError('not_ready', `preprocessor_config.json: ${own} is not ${other} of config.json`);
  const named = { ...files, config: { image_token_id: 19, video_token_id: 18, ...config } };
  return {
    ...patchFamily(named, createCosmosPatchProcessor(processing)),
    foreign: [clipToken(named, CLIP).placeholder],
  };
}
const COSMOS_SIZES = [
  ['patch_size', 'patch_size', 16],
  ['merge_size', 'spatial_merge_size', 2],
] as const;

const patchFamily = (files: FamilyFiles, processor: PatchProcessor): ImageFamily => ({
  ...flatFamily(files, processor),
  positions: ropePositions,
});

/** Models whose features stand where their tokens do, on one axis; texts that hold the token of videos are refused. */
export const createFlatPatchFamily = (
  files: FamilyFiles,
  processor = createPatchProcessor(files.processing),
): ImageFamily => ({
  ...flatFamily(files, processor),
  foreign: [clipToken(files, CLIP).placeholder],
});

/** Kimi K2.5: the same; config.json may leave out what Python has a number for. */
export const createKimiK25Family = (files: FamilyFiles): ImageFamily =>
  createFlatPatchFamily(
    { ...files, config: { image_token_id: KIMI_IMAGE, video_token_id: KIMI_CLIP, ...files.config } },
    createKimiPatchProcessor(files.processing),
  );
const [KIMI_IMAGE, KIMI_CLIP] = [163_605, 163_840];

/** Where config.json names no token of videos. */
const CLIP = '<|video_pad|>';

/**
 * VideoLLaMA 3: the same, a feature for each patch.
 * @throws RunError not_ready for patches over time and for joined ones, which its graph does not take
 */
export function createVideoLlama3Family(files: FamilyFiles): ImageFamily {
  const { temporal_patch_size: frames = 1, merge_size: merge = 1, ...given } = files.processing;
  if (frames !== 1 || merge !== 1)
    throw new RunError(
      'not_ready',
      'preprocessor_config.json: temporal_patch_size and merge_size other than 1 are not known',
    );
  const own = { image_mean: HALF, image_std: HALF, ...given, temporal_patch_size: 1, merge_size: 1 };
  return createFlatPatchFamily(files, createPatchProcessor(own));
}

const HALF = [0.5, 0.5, 0.5];

function flatFamily(files: FamilyFiles, processor: PatchProcessor): ImageFamily {
  const token = imageToken(files);
  const merge = processor.mergeSize;
  return {
    ...token,
    mostPatches: processor.mostPatches,
    layout(size) {
      const [frames, rows, columns] = processor.gridOf(size);
      const patches = frames * rows * columns;
      return {
        ...{ patches, count: patches / merge / merge },
        grid: [frames, rows / merge, columns / merge],
      };
    },
    prepare(image) {
      const { values, grid } = processor.process(image);
      const [frames, rows, columns] = grid;
      const patches = frames * rows * columns;
      const sizes = { type: 'int64', data: BigInt64Array.from(grid, BigInt), dims: [1, 3] };
      const dims = [patches, values.length / patches];
      return [
        () => ({
          pixel_values: { type: 'float32', data: values, dims },
          grid_thw: sizes,
          image_grid_thw: sizes,
        }),
      ];
    },
    expand: ({ count }) => token.placeholder.repeat(count),
  };
}

/**
 * Words stand one after the other on all axes. The features of an image stand at their position in it, counted from where
 * it begins; what follows begins after its longest edge.
 */
export function ropePositions(length: number, images: readonly PlacedMedium[]): PromptPositions {
  const axes: [number[], number[], number[]] = [[], [], []];
  const put = (t: number, h: number, w: number) => [t, h, w].forEach((at, axis) => axes[axis]!.push(at));
  let next = 0;
  const words = (end: number) => {
    for (; axes[0].length < end; next++) put(next, next, next);
  };
  for (const { start, grid, timeStep = 1 } of images) {
    words(start);
    const [frames, rows, columns] = grid!;
    for (let t = 0; t < frames; t++) {
      for (let h = 0; h < rows; h++)
        for (let w = 0; w < columns; w++) put(next + t * timeStep, next + h, next + w);
    }
    next += Math.max((frames - 1) * timeStep + 1, rows, columns);
  }
  words(length);
  return { axes, shift: next - length };
}
