/** What a window has said, and where the next one begins. */
export interface WindowResult {
  /** Tokens that are kept: those after the last whole segment are transcribed again. */
  tokens: readonly number[];
  /** Frames to go on. */
  frames: number;
}

export interface SeekRules {
  /** Token of the time 0. */
  timestampBegin: number;
  /** Frames of the audio in this window. */
  windowFrames: number;
  /** Frames of a step of time. */
  framesPerStep: number;
}

/**
 * Where a text with times lets the next window begin (WhisperGenerationMixin._retrieve_segment): after the last pair of
 * times, or after the window where the text ends with one time, or has no pairs.
 * @param tokens of the window, without the one that ended it
 */
export function seekAfter(
  tokens: readonly number[],
  { timestampBegin, windowFrames, framesPerStep }: SeekRules,
): WindowResult {
  const isTime = (i: number) => i >= 0 && i < tokens.length && tokens[i]! >= timestampBegin;
  const lastPair = tokens.findLastIndex((_, i) => isTime(i) && isTime(i + 1));
  const endsWithOne = tokens.length >= 2 && isTime(tokens.length - 1) && !isTime(tokens.length - 2);
  if (lastPair < 0 || endsWithOne) return { tokens, frames: windowFrames };
  return {
    tokens: tokens.slice(0, lastPair + 2),
    frames: (tokens[lastPair]! - timestampBegin) * framesPerStep,
  };
}
