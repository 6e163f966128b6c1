import { RunError } from '../../../../core/errors.js';
import { roundHalfEven } from '../../../../core/round-half-even.js';
import { transformersMajor } from '../../../../hub-config/version.js';
import { createBarredProcessor, meansOf } from '../../../processors/image/deepseek-vl.js';
import { squaresOf } from './deepseek-vl.js';
import type { FamilyFiles, ImageFamily } from './family.js';
import { requireNamedToken } from './named-token.js';

/** Of its tower, where config.json does not say. */
const EDGE = 384;

/** What the processor writes before a text, where its file says so. */
const SYSTEM =
  'You are a helpful language and vision assistant. You are able to understand the visual content that the user ' +
  'provides, and assist the user with a variety of tasks using natural language.\n\n';

/**
 * Janus: squares, with bars beside images that are none. Their edges are cut to whole pixels, or rounded where transformers 5 wrote the file.
 * @throws RunError not_ready for files whose parts don't fit together: Python fails at each image
 */
export function createJanusFamily(files: FamilyFiles): ImageFamily {
  const { config, processing, processor, tokenizer } = files;
  const [placeholder, start, end] = ['image_token', 'boi_token', 'eoi_token'].map((name) =>
    requireNamedToken(tokenizer, name),
  ) as [string, string, string];
  const tokenId = tokenizer.idOf(placeholder)!;
  if ((config['image_token_id'] ?? TOKEN) !== tokenId)
    throw new RunError('not_ready', 'config.json: image_token_id is not image_token of the tokenizer');
  const isNew = (transformersMajor(config) ?? 4) >= 5;
  const squares = createBarredProcessor(
    processing,
    isNew ? { bars: meansOf(processing), whole: roundHalfEven } : {},
  );
  return {
    ...{ placeholder, tokenId, ...squaresOf(files, { edge: EDGE, processor: squares }) },
    expand: ({ count }) => start + placeholder.repeat(count) + end,
    ...(processor['use_default_system_prompt'] === true && { begin: (text: string) => SYSTEM + text }),
  };
}

/** The image's, where config.json names none. */
const TOKEN = 100_581;
