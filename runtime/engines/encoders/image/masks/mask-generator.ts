import { RunError } from '../../../../core/errors.js';
import type { GeneratedMasks, MaskGenerator, MaskOptions } from '../../../../core/handles/index.js';
import type { LoadRequest } from '../../../../core/load-request.js';
import { createSingleRuns } from '../../../batching/single-runs.js';
import { openImageInput } from '../../../images/image-input.js';
import type { ProcessedImage } from '../../../processors/image/image-processor.js';
import type { Edges } from '../../../processors/image/sizes.js';
import { readModelConfig } from '../../../repository/model-config.js';
import { graphSource } from '../../../sessions/graph-source.js';
import { openSessionPoolOnDemand } from '../../../sessions/growing-pool.js';
import { type TensorLike, type Tensors, toFloat32 } from '../../../sessions/tensors.js';
import { binaryMask, type BinaryMask, maskPixels, type MaskSizes } from './binary-mask.js';
import { suppressOverlaps } from './non-maximum.js';
import { pointGrid } from './point-grid.js';

/**
 * SAM, SAM 2 and SAM 3: vision_encoder (pixel_values -> image_embeddings, …), prompt_encoder_mask_decoder (points -> masks and their
 * scores).
 */
export async function loadMaskGenerator(request: LoadRequest): Promise<MaskGenerator> {
  const config = await readModelConfig(request.dir);
  const [encoder, decoder, images] = await Promise.all([
    openSessionPoolOnDemand(request, graphSource(request, 'vision_encoder')),
    openSessionPoolOnDemand(request, graphSource(request, 'prompt_encoder_mask_decoder')),
    openImageInput(request, config),
  ]);
  const [encode, decode] = [createSingleRuns(encoder), createSingleRuns(decoder)];
  const takesBoxes = decoder.inputs.some(({ name }) => name === 'input_boxes');
  const framing = FRAMINGS[images.processor] ?? padded;
  return {
    async generate(bytes, options, signal) {
      const image = await images.read(bytes, signal);
      const { values, height, width } = image;
      const pixels = { type: 'float32', data: values, dims: [1, 3, height, width] };
      const embeddings = await encode({ pixel_values: pixels }, signal);
      images.hasRun();
      const boxes: Tensors = takesBoxes ? { input_boxes: NO_BOXES() } : {};
      return generate(decode, { image, framing, prompt: { ...embeddings, ...boxes }, options, signal });
    },
  };
}

type RunGraph = ReturnType<typeof createSingleRuns>;

/** SAM 2's exports take boxes beside points. */
const NO_BOXES = (): TensorLike => ({ type: 'float32', data: new Float32Array(0), dims: [1, 0, 4] });

/** How an image lies in what the graphs see. */
interface Framing {
  /** Length of its longest edge, as Python reckons it for points. */
  longest: number;
  /** @param masks size of the graph's masks */
  sizes(masks: Edges): MaskSizes;
}

/** SAM's images keep their shape and are padded. */
const padded = ({ original, content, width, height }: ProcessedImage): Framing => ({
  longest: Math.max(content.width, content.height),
  sizes: () => ({ padded: { height, width }, content, image: original }),
});

/**
 * Those of SAM 2 and 3 are squashed to a square. Python places the points as if they kept their shape, though: those of a wide image are all in the
 * upper part of it.
 */
const squashed = ({ original, height }: ProcessedImage): Framing => ({
  longest: height,
  sizes: (masks) => ({ padded: masks, content: masks, image: original }),
});

/** By image processor. */
const FRAMINGS: Record<string, (image: ProcessedImage) => Framing> = {
  Sam: padded,
  ...{ Sam2: squashed, Sam3: squashed },
};

interface Generation {
  image: ProcessedImage;
  framing: (image: ProcessedImage) => Framing;
  /** What the decoder takes beside points. */
  prompt: Tensors;
  options: MaskOptions;
  signal: AbortSignal;
}

interface Candidate {
  score: number;
  box: BinaryMask['box'];
  mask: BinaryMask;
}

/** Points of a run, whatever was asked: each takes some 20 MB in a model of usual size, and none depends on the others. */
const MOST_POINTS = 16;

async function generate(decode: RunGraph, generation: Generation): Promise<GeneratedMasks> {
  const { image, prompt, options, signal } = generation;
  const { original } = image;
  const { longest, sizes } = generation.framing(image);
  const points = pointGrid(options.pointsPerSide, original, longest);
  const step = 2 * Math.min(options.pointsPerRun, MOST_POINTS);
  const candidates: Candidate[] = [];
  for (let from = 0; from < points.length; from += step) {
    const outputs = await decode(promptOf(points.slice(from, from + step), prompt), signal);
    candidates.push(...(await stableMasks(outputs, sizes, generation)));
  }
  const kept = suppressOverlaps(candidates, options.overlap);
  return {
    ...original,
    masks: kept.map(({ score, box, mask }) => ({ score, box, pixels: () => maskPixels(mask) })),
  };
}

/** Each point is a prompt of its own. The image's tensors are copied: a run takes the memory of its inputs. */
function promptOf(points: Float32Array, prompt: Tensors): Tensors {
  const count = points.length / 2;
  const copies = Object.entries(prompt).map(
    ([name, { type, data, dims }]) => [name, { type, data: (data as Float32Array).slice(), dims }] as const,
  );
  return {
    ...Object.fromEntries(copies),
    input_points: { type: 'float32', data: points, dims: [1, count, 1, 2] },
    input_labels: { type: 'int64', data: new BigInt64Array(count).fill(1n), dims: [1, count, 1] },
  };
}

/** Masks whose score and whose edge are good enough. Others are served between two of them. */
async function stableMasks(
  outputs: Tensors,
  sizes: Framing['sizes'],
  { options, signal }: Generation,
): Promise<Candidate[]> {
  const [scores, masks] = [toFloat32(outputs['iou_scores']!), outputs['pred_masks']!];
  const [height, width] = masks.dims.slice(-2) as [number, number];
  const all = toFloat32(masks);
  if (all.length !== scores.length * height * width)
    throw new RunError('engine_failed', 'the graph gives another number of masks than of scores');
  const found: Candidate[] = [];
  for (const [i, score] of scores.entries()) {
    if (options.minScore > 0 && !(score > Math.fround(options.minScore))) continue;
    const values = all.subarray(i * height * width, (i + 1) * height * width);
    const mask = await binaryMask({ values, height, width }, sizes({ height, width }), {
      ...options,
      signal,
    });
    if (options.minStability > 0 && !(mask.stability > Math.fround(options.minStability))) continue;
    found.push({ score, box: mask.box, mask });
  }
  return found;
}
