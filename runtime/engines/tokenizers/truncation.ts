import { RunError } from '../../core/errors.js';

/** Which of two texts is cut; the longer one first is the default. `do_not_truncate`: what does not fit is refused. */
export type Truncation = 'longest_first' | 'only_first' | 'only_second' | 'do_not_truncate';

/** Tokens of each text; undefined: there is no second one. */
export type TextLengths = readonly [number, number | undefined];

/**
 * How many tokens of each text are kept so that both fit into `room`.
 * @throws RunError 422 when the text that may be cut is too short for that, or none may
 */
export function keptLengths([first, second]: TextLengths, room: number, strategy: Truncation): TextLengths {
  const excess = first + (second ?? 0) - room;
  if (excess <= 0) return [first, second];
  if (strategy === 'do_not_truncate') {
    const what = second === undefined ? 'the text is' : 'the two texts are';
    throw new RunError('unprocessable', `${what} longer than the model takes, ${Math.max(0, room)} tokens`);
  }
  if (strategy === 'longest_first') {
    return second === undefined
      ? [Math.max(0, room), undefined]
      : shortened(first, second, Math.max(0, room));
  }
  if (room <= 0) return [0, second && 0];
  const target = strategy === 'only_first' ? first : second;
  if (target === undefined || target <= excess) {
    throw new RunError('unprocessable', 'one of the two texts alone is longer than the model takes');
  }
  return strategy === 'only_first' ? [first - excess, second] : [first, second! - excess];
}

/** The longer text is cut down to the shorter one, then both to half each. */
function shortened(first: number, second: number, room: number): TextLengths {
  const short = Math.min(first, second);
  const long = short > room ? short : Math.max(short, room - short);
  const [kept, rest] =
    short + long > room ? [Math.floor(room / 2), Math.floor(room / 2) + (room % 2)] : [short, long];
  return first > second ? [rest, kept] : [kept, rest];
}

export interface WindowSettings {
  /** Tokens of each window. */
  size: number;
  /** Tokens that a window shares with the one before; absent: the first window only. */
  stride?: number | undefined;
  /** Windows begin at the end of the text. */
  left: boolean;
}

/**
 * Stretches [start, end) of a text of `length` tokens.
 * @throws RunError 422 when windows would not go on
 */
export function windowsOf(length: number, { size, stride, left }: WindowSettings): [number, number][] {
  if (size >= length) return [[0, length]];
  if (size <= 0) return [[0, 0]];
  if (stride === undefined) return [left ? [length - size, length] : [0, size]];
  if (stride >= size) {
    throw new RunError('unprocessable', `a window of ${size} tokens can't share ${stride} with the next`);
  }
  const count = Math.ceil((length - size) / (size - stride)) + 1;
  return Array.from({ length: count }, (_, i) => {
    const begin = i * (size - stride);
    return left
      ? [Math.max(0, length - begin - size), length - begin]
      : [begin, Math.min(length, begin + size)];
  });
}
