import type { TensorLike } from '../../sessions/tensors.js';

/** What a decoder is fed before its first new token. */
export interface Prompt {
  /** As Python has them: an image is its token again and again. */
  tokens: readonly number[];
  /** What stands in place of embedded tokens, in the order of the prompt. Only for decoders that take embeddings. */
  spans?: readonly FeatureSpan[] | undefined;
  /** What tokens are known by in the prefix cache: the same for the same features only. Absent: the tokens. */
  keys?: readonly number[] | undefined;
  /** Tokens of one group see each other, whichever comes first; 0 for those of none. Absent: no token has one. */
  groups?: readonly number[] | undefined;
  /** What is asked of its heads. */
  attention?: AskedAttention | undefined;
  /** Absent: each token stands at its position. */
  positions?: PromptPositions | undefined;
  /** Images, for decoders some of whose layers look at them. */
  images?: SeenImages | undefined;
}

/** What an encoder made of the images of a prompt, and which of it each token looks at. */
export interface SeenImages {
  /** [length, width]: of all images, one after the other. */
  states: TensorLike;
  /** For each token the states that it looks at, as [from, to); for one before all images there are none. */
  seen: readonly (readonly (readonly [from: number, to: number])[])[];
}

/** An input of graphs whose layers look at images: int64 [rows, tokens, length]. */
export const IMAGES_INPUT = 'cross_attention_mask';

/**
 * Of the tokens [from, from + count): 0 for states that one does not look at, 1 for those that it looks at. One before all
 * images looks at all of them, and has 2 there.
 */
export function imagesMask({ states, seen }: SeenImages, from: number, count: number): BigInt64Array {
  const length = states.dims[0]!;
  const mask = new BigInt64Array(count * length);
  for (let i = 0; i < count; i++) {
    const [start, ranges] = [i * length, seen[from + i]!];
    if (ranges.length === 0) mask.fill(2n, start, start + length);
    for (const [first, end] of ranges) mask.fill(1n, start + first, start + end);
  }
  return mask;
}

/** An input of graphs that tell how heads look at their source: bool [layers · heads], or of no elements. */
export const HEADS_INPUT = 'attention_heads';
/** Shares of the heads that are true there, float32 [1, chosen, tokens, length]. */
export const ATTENTION_OUTPUT = 'source_attention';

/** How heads look at the source while a prompt is fed; only for decoders that tell it. */
export interface AskedAttention {
  /** For each head of each layer 1 where it is asked for. */
  heads: Uint8Array;
  /** Takes [chosen, tokens, length] of the next tokens, in their order. A view: gone once this returns. */
  tell(shares: Float32Array, tokens: number): void;
}

/** What an encoder made of an image. */
export interface FeatureSpan {
  /** Place of the first one in the prompt. */
  start: number;
  count: number;
  /** [count, width], in the type of the decoder's embeddings. */
  features: TensorLike;
}

/** Positions on several axes (M-RoPE). */
export interface PromptPositions {
  /** For each axis the position of each token. */
  axes: readonly (readonly number[])[];
  /** How far tokens after the prompt stand from their position, on every axis. */
  shift: number;
}

/** Positions on this many axes of the tokens [from, from + count) of a sequence that begins with a prompt. */
export function positionsOf(
  { tokens, positions }: Prompt,
  { from, count, axes }: { from: number; count: number; axes: number },
): number[][] {
  const shift = positions?.shift ?? 0;
  return Array.from({ length: axes }, (_, axis) =>
    Array.from({ length: count }, (__, i) => {
      const place = from + i;
      return place < tokens.length ? (positions?.axes[axis]?.[place] ?? place) : place + shift;
    }),
  );
}

/** An input of graphs that let tokens of a prompt see later ones: int64 [rows, tokens], their groups. */
export const GROUPS_INPUT = 'token_groups';

/** True for a position that features stand at. */
export function isFeature({ spans = [] }: Prompt, place: number): boolean {
  return spans.some(({ start, count }) => place >= start && place < start + count);
}
