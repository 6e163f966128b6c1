import { RunError } from '../../../../core/errors.js';
import type { TensorLike } from '../../../sessions/tensors.js';
import type { FeatureSpan, Prompt } from '../../decoding/prompt.js';
import type { PictureFamily, PictureLayout, PlacedPicture } from './family.js';
import type { EncodedPicture } from './vision-encoder.js';

/**
 * A rendered conversation with the tokens of its pictures written out.
 * @throws RunError 422 where the text has other than one placeholder for each picture
 */
export function expandPictures(
  { placeholder, expand }: Pick<PictureFamily, 'placeholder' | 'expand'>,
  text: string,
  pictures: readonly PictureLayout[],
): string {
  const parts = text.split(placeholder);
  if (parts.length - 1 !== pictures.length) {
    throw new RunError(
      'unprocessable',
      `the conversation has ${pictures.length} pictures, and places for ${parts.length - 1}: ` +
        `texts must not hold ${placeholder}, and the model's chat template must place pictures`,
    );
  }
  return parts.map((part, i) => (i === 0 ? part : expand(pictures[i - 1]!) + part)).join('');
}

/** Most features of a picture, to number them beside those of others. */
const MOST_FEATURES = 2 ** 20;

/**
 * Puts the features of pictures, in their order, where their tokens stand.
 * @throws RunError 422 where there are other than as many tokens as features
 */
export function picturePrompt(
  { tokenId, positions }: Pick<PictureFamily, 'tokenId' | 'positions'>,
  tokens: readonly number[],
  pictures: readonly EncodedPicture[],
): Prompt {
  if (pictures.length === 0 && !tokens.includes(tokenId)) return { tokens };
  const places = tokens.flatMap((token, place) => (token === tokenId ? [place] : []));
  const features = pictures.reduce((sum, { count }) => sum + count, 0);
  if (places.length !== features)
    throw new RunError(
      'unprocessable',
      `the prompt has ${places.length} tokens of pictures, and the pictures have ${features} features`,
    );
  const keys = [...tokens];
  const spans: FeatureSpan[] = [];
  const placed: PlacedPicture[] = [];
  let first = 0;
  for (const { id, count, features: rows, grid } of pictures) {
    const own = places.slice(first, first + count);
    // Negative, unlike tokens.
    own.forEach((place, i) => (keys[place] = -(id * MOST_FEATURES + i) - 1));
    spans.push(...runsOf(own).map((run) => spanOf(run, rows)));
    placed.push({ start: own[0]!, ...(grid ? { grid } : {}) });
    first += count;
  }
  return { tokens, keys, spans, positions: positions?.(tokens.length, placed) };
}

interface Run {
  /** Place in the prompt. */
  start: number;
  count: number;
  /** Number of the first feature. */
  first: number;
}

/** Places in a row, as runs. */
function runsOf(places: readonly number[]): Run[] {
  const runs: Run[] = [];
  places.forEach((place, i) => {
    const last = runs.at(-1);
    if (last && place === last.start + last.count) last.count++;
    else runs.push({ start: place, count: 1, first: i });
  });
  return runs;
}

function spanOf({ start, count, first }: Run, { type, data, dims }: TensorLike): FeatureSpan {
  const width = dims[1]!;
  const rows = (data as Float32Array).subarray(first * width, (first + count) * width);
  return { start, count, features: { type, data: rows, dims: [count, width] } };
}
