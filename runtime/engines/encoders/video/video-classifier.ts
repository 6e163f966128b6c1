import { RunError } from '../../../core/errors.js';
import type { ClipOptions, VideoClassifier } from '../../../core/handles/index.js';
import type { LoadRequest } from '../../../core/load-request.js';
import { requireFfmpeg } from '../../../media/ffmpeg.js';
import { withVideo } from '../../../media/video.js';
import { createSingleRuns } from '../../batching/single-runs.js';
import { createImageProcessor, type ImageProcessor } from '../../processors/image/image-processor.js';
import { readProcessorConfig } from '../../processors/image/processor-config.js';
import { evenly } from '../../processors/video/evenly.js';
import { labelsOf, problemOf } from '../../repository/labels.js';
import { firstNumber } from '../../repository/model-folder.js';
import { readModelConfig } from '../../repository/model-config.js';
import { graphSource } from '../../sessions/graph-source.js';
import { requireOutputs } from '../../sessions/require-outputs.js';
import { openSessionPoolOnDemand } from '../../sessions/growing-pool.js';
import { type TensorLike, toLogits } from '../../sessions/tensors.js';

/** *ForVideoClassification: pixel_values [1, frames, 3, h, w] -> logits [1, labels]. */
export async function loadVideoClassifier(request: LoadRequest): Promise<VideoClassifier> {
  const { dir } = request;
  await requireFfmpeg();
  const config = await readModelConfig(dir);
  const [pool, settings] = await Promise.all([
    openSessionPoolOnDemand(request, graphSource(request, 'model')),
    readProcessorConfig(request, config),
  ]);
  requireOutputs(pool.outputs, ['logits']);
  const run = createSingleRuns(pool);
  const processor = createImageProcessor(settings);
  const trained = firstNumber(config, 'num_frames', 'frames_per_clip');
  return {
    async classify(bytes, { frames = trained, every }, signal) {
      if (frames === undefined)
        throw new RunError('unprocessable', 'params.num_frames: the model names none');
      checkFrames(frames, trained);
      const clip = { frames, every };
      const pixels = await readClip(bytes, { clip, processor, limits: request, signal });
      const { logits } = await run({ pixel_values: pixels }, signal);
      const scores = toLogits(logits!);
      return { logits: scores, labels: labelsOf(config, scores.length), problem: problemOf(config) };
    },
  };
}

/** These networks have a position for each frame. */
function checkFrames(asked: number, trained: number | undefined): void {
  if (trained === undefined || asked === trained) return;
  throw new RunError('unprocessable', `params.num_frames: this model reads ${trained} frames, not ${asked}`);
}

interface ClipWork {
  clip: { frames: number } & Pick<ClipOptions, 'every'>;
  processor: ImageProcessor;
  limits: Pick<LoadRequest, 'maxPixels' | 'maxSeconds'>;
  signal: AbortSignal;
}

/** The first frames, `every` frames apart (read_video_pyav), as the model reads them. */
function readClip(bytes: Uint8Array, { clip, processor, limits, signal }: ClipWork): Promise<TensorLike> {
  const numbers = frameNumbers(clip);
  return withVideo(bytes, { limits, signal }, async (video) => {
    const images: { values: Float32Array; height: number; width: number }[] = [];
    await video.frames(numbers, async (image) => {
      images.push(await processor.processInSlices(image, signal));
    });
    if (images.length < numbers.length) throw tooShort(numbers, images.length);
    const { height, width, values } = images[0]!;
    const data = new Float32Array(values.length * images.length);
    for (const [i, image] of images.entries()) data.set(image.values, i * values.length);
    return { type: 'float32', data, dims: [1, images.length, 3, height, width] };
  });
}

/** As np.linspace(0, frames * every - 1, frames), cut to whole numbers. */
function frameNumbers({ frames, every }: ClipWork['clip']): number[] {
  return evenly(0, frames * every - 1, frames);
}

function tooShort(numbers: readonly number[], found: number): RunError {
  return new RunError(
    'unprocessable',
    `the video is too short: this model reads frames up to number ${numbers.at(-1)}, and ${found} of those ${numbers.length} ` +
      'are there; send a longer one, or a lower params.frame_sampling_rate',
  );
}
