import ort from 'onnxruntime-node';
import type { Tensor } from 'onnxruntime-node';
import { createSampler } from '../../generation/search/sampling.js';
import type { GenerationSettings } from '../../generation/settings/settings.js';
import { toFloat32, toLogits } from '../../sessions/tensors.js';
import type { Step } from '../cached-decoder.js';
import { delayPattern } from './delay-pattern.js';

export interface Piece {
  /** What the text encoder made: [1, tokens, width]. */
  states: Tensor;
  settings: GenerationSettings;
  codebooks: number;
  /** Steps, the start token included. */
  length: number;
  /** Token of the start, and of positions that are forced. */
  pad: number;
  signal: AbortSignal;
}

/**
 * Codes of each codebook, step by step (MusicgenForConditionalGeneration.generate). With guidance every step is computed for
 * the text and for none, and scores are moved away from those for none.
 * @returns equally many codes of each codebook
 */
export async function composeCodes(step: Step, piece: Piece): Promise<number[][]> {
  const { settings, codebooks, length, pad, signal } = piece;
  const { guidanceScale } = settings;
  const rows = guidanceScale > 1 ? 2 : 1;
  const source = sourceFeeds(piece.states, rows);
  const isForced = delayPattern(codebooks, length);
  const samplers = Array.from({ length: codebooks }, (_, codebook) => createSampler(settings, codebook));
  const codes: number[][] = samplers.map(() => []);
  let column = samplers.map(() => pad);
  for (let position = 1; position < length; position++) {
    signal.throwIfAborted();
    const ids = BigInt64Array.from(Array.from({ length: rows }, () => column).flat(), BigInt);
    const input_ids = new ort.Tensor('int64', ids, [ids.length, 1]);
    const { logits } = await step({ input_ids, ...source }, ['logits']);
    const scores = guided(toLogits(logits!), codebooks, guidanceScale);
    column = samplers.map((sample, codebook) => {
      if (isForced(codebook, position)) return pad;
      const code = sample(scores[codebook]!);
      codes[codebook]!.push(code);
      return code;
    });
  }
  return codes;
}

/** States and mask of the text; with guidance also those of no text, which are zeros. */
function sourceFeeds(states: Tensor, rows: number): Record<string, Tensor> {
  const [, tokens, width] = states.dims as [number, number, number];
  const given = toFloat32(states);
  const values = new Float32Array(rows * given.length);
  values.set(given);
  const mask = new BigInt64Array(rows * tokens).fill(1n, 0, tokens);
  return {
    encoder_hidden_states: new ort.Tensor('float32', values, [rows, tokens, width]),
    encoder_attention_mask: new ort.Tensor('int64', mask, [rows, tokens]),
  };
}

/** Scores of each codebook. @param logits rows of the text, then of no text if there is guidance */
function guided(logits: Float32Array, codebooks: number, scale: number): Float32Array[] {
  const size = logits.length / codebooks / (scale > 1 ? 2 : 1);
  return Array.from({ length: codebooks }, (_, codebook) => {
    const row = logits.slice(codebook * size, (codebook + 1) * size);
    if (scale <= 1) return row;
    const other = (codebooks + codebook) * size;
    return row.map((score, i) => logits[other + i]! + (score - logits[other + i]!) * scale);
  });
}
