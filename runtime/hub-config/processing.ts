import * as z from 'zod';

/** Longest edge that a setting may ask for, in pixels, and the most pixels of one image. */
const [LONGEST, LARGEST_IMAGE] = [32_768, 2 ** 24];
const LONGEST_SQUARE = Math.sqrt(LARGEST_IMAGE);
/** Some classes bound the pixels of an image in the fields of its edges. */
const MOST_PIXELS = 2 ** 31;

const flag = z.boolean().nullish();
const whole = (most: number, least = 1) => z.int().min(least).max(most);
const count = (most: number, least = 1) => whole(most, least).nullish();
/** Classes of audio take no null for the default. */
const audio = (most: number, least = 1) => whole(most, least).optional();
const edge = count(LONGEST);
const bound = count(MOST_PIXELS);
const NO_SIZE = `is no size of edges from 1 to ${LONGEST} and of ${LARGEST_IMAGE} pixels at most`;
/** An edge, both of them, or a record of edges and bounds. */
const size = z
  .union(
    [
      whole(LONGEST_SQUARE),
      z
        .tuple([whole(LONGEST), whole(LONGEST)])
        .refine(([height, width]) => height * width <= LARGEST_IMAGE, NO_SIZE),
      z
        .looseObject({
          ...{ height: edge, width: edge, max_height: edge, max_width: edge },
          ...{ shortest_edge: bound, longest_edge: bound },
        })
        .refine(({ height, width }) => (height ?? 1) * (width ?? 1) <= LARGEST_IMAGE, NO_SIZE),
    ],
    NO_SIZE,
  )
  .nullish();

/** What is done to levels has to stay a number of 32 bits. */
const LARGEST = 1e6;
const level = z.number().min(-LARGEST).max(LARGEST);
const deviation = level.refine((value) => Math.abs(value) >= 1 / LARGEST, 'is too near to 0');
/** One number, or one for each channel. */
const perChannel = (number: z.ZodType<number>) =>
  z
    .union(
      [number, z.array(number).min(1).max(4)],
      'is neither a number of use nor a list of one to four of them',
    )
    .nullish();

const name = z.string().nullish();

/** Its class alone adds the noise that Python adds. */
const NOISY = 'CohereAsrFeatureExtractor';

const processing = z
  .looseObject({
    ...{ image_processor_type: name, feature_extractor_type: name, patch_size: size },
    ...{ do_resize: flag, do_center_crop: flag, do_rescale: flag, do_normalize: flag, do_pad: flag },
    ...{ do_flip_channel_order: flag, do_thumbnail: flag, do_align_long_axis: flag, do_convert_rgb: flag },
    ...{ rescale_offset: flag, include_top: flag, keep_aspect_ratio: flag, do_sample_frames: flag },
    ...{ size, crop_size: size, pad_size: size, resample: count(5, 0) },
    ...{ rescale_factor: level.nullish(), image_mean: perChannel(level) },
    image_std: perChannel(deviation),
    ...{ size_divisor: count(LONGEST, 0), size_divisibility: count(LONGEST, 0), max_patches: count(2 ** 20) },
    ...{ max_num_patches: count(2 ** 20), merge_size: count(64), temporal_patch_size: count(64) },
    crop_pct: z.number().min(0.01).max(10).nullish(),
    ensure_multiple_of: z.number().positive().max(LONGEST).nullish(),
    ...{ sampling_rate: audio(2 ** 20, 1000), hop_length: audio(2 ** 20), n_fft: audio(2 ** 16, 2) },
    ...{ win_length: audio(2 ** 16, 2), feature_size: audio(4096), num_mel_bins: audio(4096) },
    ...{ chunk_length: audio(3600), max_length: audio(2 ** 20), stride: audio(64) },
    ...{ delta_win_length: audio(4096), logmel_floor_db: level.optional() },
    ...{ preemphasis: level.nullish(), padding_value: level.optional() },
    // Some classes of images call them so, too.
    ...{ mean: perChannel(level), std: perChannel(deviation) },
    // Pix2Struct's questions.
    is_vqa: z
      .literal(
        false,
        'questions are read off the image, drawn in a font that can’t be shipped: use a model that describes images',
      )
      .nullish(),
    dither: z.number().min(0).max(1).nullish(),
  })
  .refine(({ dither, feature_extractor_type: type }) => !dither || type === NOISY, {
    ...{ message: 'adds noise, which is not supported', path: ['dither'] },
  });

/**
 * What stands in the way of settings of a processor of images, videos or audio clips (preprocessor_config.json, parts of
 * processor_config.json): another type than Python's class takes, or a number with which it fails or makes nothing.
 * @returns a field and what is wrong with it; undefined where all is well
 */
export function processingProblem(settings: unknown): string | undefined {
  const { error } = processing.safeParse(settings);
  const issue = error?.issues[0];
  return issue && `${issue.path.join('.').slice(0, 100)}: ${issue.message.slice(0, 200)}`;
}
