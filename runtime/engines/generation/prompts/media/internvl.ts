import { RunError } from '../../../../core/errors.js';
import type { FrameSampling } from '../../../../core/handles/index.js';
import type { VideoFacts } from '../../../../media/video.js';
import { createCanvasProcessor } from '../../../processors/image/got-ocr2.js';
import { createTensorFrames } from '../../../processors/image/tensor-frames.js';
import { uniformly } from '../../../processors/video/uniform.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import { tokenText } from '../../../tokenizers/tokenizer-json.js';
import type { ClipFamily, ClipFiles, FamilyFiles, ImageFamily } from './family.js';
import { allFrames, chosenCount } from './frame-sampling.js';
import { imageToken } from './image-token.js';
import { pixelValues } from './pixel-values.js';

/** Features of a tile where processor_config.json does not say. */
const FEATURES = 256;
/** Edges of images and of patches where config.json does not say. */
const [EDGE, PATCH] = [448, 14];

/** InternVL: images are cut into tiles of one size, all of whose features follow one another. */
export function createInternVlFamily(files: FamilyFiles): ImageFamily {
  const token = imageToken(files);
  const tiles = createCanvasProcessor(files.processing);
  const { each, patches, written } = rulesOf(files, token.placeholder);
  return {
    ...{ ...token, mostPatches: patches },
    layout: (size) => ({ patches, count: tiles.tilesOf(size) * each }),
    prepare: (image) => tiles.process(image).map((values) => () => pixelValues(values(), tiles)),
    expand: ({ count }) => written(count),
  };
}

/**
 * Qianfan-OCR: the same, where templates write a token of their own for images.
 * @throws RunError not_ready where the tokenizer has another token at the positions of features than the network
 */
export function createQianfanOcrFamily(files: FamilyFiles): ImageFamily {
  const family = createInternVlFamily(files);
  const context = tokenText(files.tokenizer.config['context_image_token']);
  if (context !== '' && context !== family.placeholder)
    throw new RunError(
      'not_ready',
      'config.json: image_token_id is not context_image_token of the tokenizer',
    );
  const written = files.processor['image_placeholder_token'];
  return {
    ...family,
    placeholder: typeof written === 'string' ? written : '<image>',
    foreign: [family.placeholder],
  };
}

/** InternVL: frames of a clip are images that are not cut, each behind its number. */
export function createInternVlClips(files: ClipFiles): ClipFamily {
  const { tokenId, placeholder } = imageToken(files);
  const frames = createTensorFrames(files.video);
  const { each, patches, written, named } = rulesOf(files, placeholder);
  return {
    ...{ tokenId, placeholder: named('video_token', '<video>'), alone: false, mostPatches: patches },
    choose(facts, sampling) {
      const numbers = frameNumbers(facts, sampling, files.video);
      return { numbers, layout: { count: numbers.length * each, patches } };
    },
    collect: () => ({
      add(frame) {
        const { values, ...size } = frames.process(frame);
        return [() => pixelValues(values, size)];
      },
      end: () => [],
    }),
    expand: ({ count }) =>
      Array.from({ length: count / each }, (_, i) => `Frame${i + 1}: ${written(each)}`).join('\n'),
  };
}

function rulesOf({ config, processor, tokenizer }: FamilyFiles, placeholder: string) {
  const own = (tokenizer.config['extra_special_tokens'] ?? {}) as Json;
  const named = (name: string, usual: string) =>
    tokenText(own[name]) || tokenText(tokenizer.config[name]) || usual;
  const vision = (config['vision_config'] ?? {}) as Json;
  const edge = (name: string, usual: number) => Number([vision[name] ?? usual].flat()[0]);
  const [before, after] = [named('start_image_token', '<img>'), named('end_image_token', '</img>')];
  return {
    each: firstNumber(processor, 'image_seq_length') ?? FEATURES,
    patches: Math.floor(edge('image_size', EDGE) / edge('patch_size', PATCH)) ** 2 + 1,
    written: (count: number) => `${before}${placeholder.repeat(count)}${after}`,
    named,
  };
}

/** InternVLVideoProcessor.sample_frames; all frames where nothing is asked. */
function frameNumbers(facts: VideoFacts, asked: FrameSampling, video: Json): number[] {
  const { frames: total } = facts;
  const count = chosenCount(facts, asked, video);
  if (count === undefined) return allFrames(total);
  const shift = video['initial_shift'] ?? true;
  // In the middle of their parts of the video.
  if (shift === true) return uniformly(total, count, total / count / 2);
  return uniformly(total, count, Number(shift));
}
