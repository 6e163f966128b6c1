/** What quantisations mean, in plain words, from the largest to the smallest. Source: llama_ftype and the sizes of its types. */
const LABELS: readonly (readonly [label: RegExp, words: string])[] = [
  [/^F(?:P)?32$/, 'full precision (32 bits)'],
  [/^BF16$/, 'as trained (16 bits, bfloat16)'],
  [/^F(?:P)?16$/, 'half precision (16 bits)'],
  [/^Q8/, '8 bits: next to no loss'],
  [/^Q6/, '6 bits: very little loss'],
  [/^Q5/, '5 bits: little loss'],
  [/^(?:I?Q4|MXFP4|NVFP4)/, '4 bits: some loss, the usual choice'],
  [/^I?Q3/, '3 bits: noticeable loss'],
  [/^(?:I?Q2|TQ2)/, '2 bits: great loss'],
  [/^(?:I?Q1|TQ1)/, '1 bit: the greatest loss'],
];

/** As in names of files: the last of several counts. */
const LABEL =
  /(?:UD-)?(?:I?Q[1-8](?:_[A-Z0-9]+)*|B?F(?:P)?16|F(?:P)?32|MXFP4(?:_MOE)?|NVFP4|TQ[12]_0)(?![A-Z0-9])/g;

/** The quantisation that a name tells, in capitals; undefined where it tells none. */
export function ggufLabel(path: string): string | undefined {
  return path.toUpperCase().match(LABEL)?.at(-1);
}

const plain = (label: string): string => label.replace(/^UD-/, '');

/** A quantisation in plain words. */
export function labelWords(label: string | undefined): string {
  const found = label === undefined ? undefined : LABELS.find(([pattern]) => pattern.test(plain(label)));
  return found?.[1] ?? 'unknown precision';
}

/** Place among all, the most exact first; unknown ones last. */
export function labelRank(label: string | undefined): number {
  const found = label === undefined ? -1 : LABELS.findIndex(([pattern]) => pattern.test(plain(label)));
  return found < 0 ? LABELS.length : found;
}
