/** Texts of a known number of tokens for the bench models: each of these words is one token of their vocabulary. */
import { randomFrom } from './numbers.mjs';

const WORDS =
  `the of and to in is it that was for on are with as they be at one have this from or had by not but what
all were when we there can an your which their said if do will each about how up out them then she many some so these
would other into has more her two like him see time could no make than first been its who now people my made over did
down only way find use may water long little very after words called just where most know`.split(/\s+/);

/** [CLS] and [SEP]. */
const FRAME = 2;

/** Shares of lengths in tokens: what short queries beside paragraphs look like. */
const MIXED = [
  { share: 0.5, from: 6, to: 16 },
  { share: 0.3, from: 17, to: 64 },
  { share: 0.15, from: 65, to: 128 },
  { share: 0.05, from: 129, to: 256 },
];

const COUNT = 256;

/** A text of that many tokens, those that frame it included. */
export function textOf(tokens, random) {
  return Array.from({ length: tokens - FRAME }, () => WORDS[Math.floor(random() * WORDS.length)]).join(' ');
}

function mixedLengths(random) {
  const lengths = MIXED.flatMap(({ share, from, to }) =>
    Array.from({ length: Math.round(COUNT * share) }, () => from + Math.floor(random() * (to - from + 1))),
  );
  return lengths.map((value) => ({ value, at: random() })).toSorted((a, b) => a.at - b.at);
}

/** `kind` is "mixed" or a number of tokens; always the same texts in the same order. */
export function textsOf(kind) {
  const random = randomFrom(7);
  if (kind === 'mixed') return mixedLengths(random).map(({ value }) => textOf(value, random));
  return Array.from({ length: COUNT }, () => textOf(Number(kind), random));
}

/** Prompts of 25 to 40 tokens for the decoder, whose vocabulary cuts most of these words in two or three. */
export function prompts(count = 64) {
  const random = randomFrom(23);
  return Array.from({ length: count }, () => textOf(18 + Math.floor(random() * 3), random));
}
