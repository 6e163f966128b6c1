import type { Head } from '../../runtime/core/handles/index.js';

/** What is known of a type: heads that were compared with Python, or why its graphs are wrong or none. */
type Known = readonly Head[] | { refused: string };

const TEXT: readonly Head[] = [
  ...(['sequence-classification', 'entailment', 'token-classification', 'masked-lm'] as const),
  ...(['question-answering', 'embedding'] as const),
];
const PICTURE: readonly Head[] = ['image-classification', 'image-features'];

/** By `model_type`; all others are untried. */
const KNOWN: Readonly<Record<string, Known>> = {
  ...Object.fromEntries(
    [
      ...[
        'roberta-prelayernorm',
        'nystromformer',
        'fnet',
        'esm',
        'luke',
        'data2vec-text',
        'deberta',
        'rembert',
      ],
      ...['megatron-bert', 'ibert', 'ernie', 'splinter', 'xlm', 'flaubert', 'big_bird', 'gte', 'yoso'],
    ].map((type) => [type, TEXT] as const),
  ),
  ...Object.fromEntries(
    [
      ...['focalnet', 'cvt', 'pvt', 'pvt_v2', 'mobilevitv2', 'hiera', 'vit_msn', 'ijepa', 'data2vec-vision'],
      ...['textnet', 'pp_lcnet'],
    ].map((type) => [type, PICTURE] as const),
  ),
  funnel: { refused: 'its graph has the length of its example' },
  canine: { refused: 'its graph has the length of its example' },
  mra: { refused: 'it reads multiples of 32 tokens only' },
  reformer: { refused: 'how it computes depends on the numbers that it reads' },
  xmod: { refused: 'its graph reads beyond a table' },
  vit_mae: { refused: 'it draws its mask at random' },
};

export type Verdict = { kind: 'exports' | 'untried' } | { kind: 'refused'; reason: string };

/** What is known of exports of this type for a head. */
export function verdictOf(modelType: string, head: Head): Verdict {
  const known = Object.hasOwn(KNOWN, modelType) ? KNOWN[modelType] : undefined;
  if (!known) return { kind: 'untried' };
  if ('refused' in known) return { kind: 'refused', reason: known.refused };
  return { kind: known.includes(head) ? 'exports' : 'untried' };
}
