import type { Head } from '../../runtime/core/handles/index.js';
import { TRIED } from './tried.js';

/** What is known of a type: heads that it is exported for, or why its graphs are wrong or none. */
type Known = readonly Head[] | { refused: string };

/** Heads over one encoder: one of them was compared for each type below, all are compared with torch when they are exported. */
const TEXT: readonly Head[] = [
  ...(['sequence-classification', 'entailment', 'token-classification', 'masked-lm'] as const),
  ...(['question-answering', 'embedding'] as const),
];
const IMAGE: readonly Head[] = ['image-classification', 'image-features'];
const AUDIO: readonly Head[] = ['ctc', 'audio-classification'];

const all = (heads: readonly Head[], ...types: string[]): Record<string, Known> =>
  Object.fromEntries(types.map((type) => [type, heads]));

const refused = (reason: string, ...types: string[]): Record<string, Known> =>
  Object.fromEntries(types.map((type) => [type, { refused: reason }]));

/**
 * By `model_type`; of all others, only what was tried by a command is known. Answers of those with heads were compared with transformers' pipelines
 * (test/parity/exported-tools.test.ts, over what scripts/fixtures/zoo_exported.py makes).
 */
const KNOWN: Readonly<Record<string, Known>> = {
  ...all(
    TEXT,
    'roberta-prelayernorm',
    'nystromformer',
    'fnet',
    'esm',
    'esmc',
    'luke',
    'data2vec-text',
    'deberta',
  ),
  ...all(TEXT, 'rembert', 'megatron-bert', 'ibert', 'ernie', 'big_bird', 'yoso'),
  ...all(IMAGE, 'focalnet', 'pvt_v2', 'mobilevitv2', 'hiera', 'vit_msn', 'ijepa', 'data2vec-vision'),
  ...all(AUDIO, 'sew', 'sew-d', 'wav2vec2-conformer'),
  ...all(['image-text-matching'], 'chinese_clip', 'metaclip_2'),
  ...all(['causal-lm'], 'biogpt', 'persimmon', 'diffllama', 'doge', 'jetmoe', 'bitnet'),
  funnel: { refused: 'its graph has the length of its example' },
  canine: { refused: 'its graph has the length of its example' },
  mra: { refused: 'it reads multiples of 32 tokens only' },
  reformer: { refused: 'how it computes depends on the numbers that it reads' },
  xmod: { refused: 'its graph reads beyond a table' },
  ...refused('its states are no cache of layers', 'rwkv', 'xlstm'),
  ...refused(
    'it gives a map of where texts are, and no boxes',
    'pp_ocrv5_server_det',
    'pp_ocrv6_medium_det',
    'pp_ocrv6_small_det',
  ),
  ...refused('its tokenizer is written in Python, and has no code here', 'fsmt'),
  ...refused('it reads audio beside texts, and has no encoder of them', 'audioflamingo3', 'musicflamingo'),
  ...refused(
    'its images are added in several layers of its decoder',
    'granite4_vision',
    'granite_docling',
    'cohere_compass',
    'cosmos3_omni',
    'qwen3_omni_moe_thinker',
  ),
  ...refused('its positions have several axes', 'hy_v4_vl', 'qwen4_exp', 'cosmos3_edge'),
  ...refused('it needs timm, which the tools of exports do not have', 'fast_vlm', 'perception_lm', 'gemma3n'),
  molmo2: { refused: 'its images are added to their tokens, and see each other' },
  unlimited_ocr: { refused: 'its cache holds a prompt beside a window' },
  shieldgemma2: { refused: 'its processor writes questions of its own, and the answer is how likely yes is' },
  diffusion_gemma: { refused: 'it writes by diffusion' },
  evolla: { refused: 'it reads proteins' },
  pi0: { refused: 'it moves robots' },
  instructblipvideo: { refused: 'it reads videos' },
  videomt: { refused: 'it reads videos' },
  cpmant: { refused: 'it puts tokens of its own before each text' },
  deepseek_v4: { refused: 'its cache holds more than keys, values and states' },
  tapas: { refused: 'it reads tables' },
  gemma4_assistant: { refused: 'it drafts for another model, whose states it reads' },
  gemma4_unified_assistant: { refused: 'it drafts for another model, whose states it reads' },
  musicgen_melody: { refused: 'it writes codes of audio' },
  vit_mae: { refused: 'it draws its mask at random' },
  llama4_text: { refused: 'rotations by complex numbers have no operator' },
};

export type Verdict = { kind: 'exports' | 'untried' } | { kind: 'refused'; reason: string };

/** What is known of exports of this type for a head. */
export function verdictOf(modelType: string, head: Head): Verdict {
  const tried = triedOf(modelType, head);
  if (tried === true) return { kind: 'exports' };
  if (tried !== undefined) return { kind: 'refused', reason: tried };
  const known = Object.hasOwn(KNOWN, modelType) ? KNOWN[modelType] : undefined;
  if (!known) return { kind: 'untried' };
  if ('refused' in known) return { kind: 'refused', reason: known.refused };
  return { kind: known.includes(head) ? 'exports' : 'untried' };
}

/** What a trial of a tiny network showed (scripts/atlas/try-exports.mjs). */
function triedOf(modelType: string, head: Head): string | true | undefined {
  // One class and one recipe.
  const same = head === 'entailment' ? 'sequence-classification' : head;
  const named = Object.entries(TRIED[same] ?? {}).find(([, lines]) =>
    lines.some((line) => line.split(' ').includes(modelType)),
  );
  return named && (named[0] || true);
}
