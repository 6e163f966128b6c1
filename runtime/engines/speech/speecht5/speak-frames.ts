import ort from 'onnxruntime-node';
import type { Tensor } from 'onnxruntime-node';
import { RunError } from '../../../core/errors.js';
import { toFloat32 } from '../../sessions/tensors.js';
import type { Step } from '../cached-decoder.js';

export interface Speech {
  /** What the encoder made of the text, and its mask. */
  states: Tensor;
  mask: Tensor | undefined;
  voice: readonly number[];
  /** Masks of a step, where the graph does not draw them itself. @param frames that were said, the first of zeros included */
  masks?: ((frames: number) => Tensor) | undefined;
  /** Numbers of a frame. */
  bands: number;
  limits: {
    /** Probability of an end that ends the speech. */
    threshold: number;
    /** Steps before which it doesn't end, and at which it ends. */
    least: number;
    most: number;
  };
  /** Most steps of the model. */
  longest: number;
  signal: AbortSignal;
}

/**
 * Mel frames, some with each step, until one of them is likely the last (transformers' _generate_speech). The graph adds the
 * last frame of each step to the sequence that it reads.
 * @throws RunError 422 for a speech that comes to no end within the model's positions; the signal's reason
 */
export async function speakFrames(step: Step, speech: Speech): Promise<Float32Array> {
  const { states, mask, voice, masks, bands, limits, longest, signal } = speech;
  const source = {
    encoder_hidden_states: states,
    ...(mask && { encoder_attention_mask: mask }),
    speaker_embeddings: new ort.Tensor('float32', Float32Array.from(voice), [1, voice.length]),
  };
  let said = new ort.Tensor('float32', new Float32Array(bands), [1, 1, bands]) as Tensor;
  const frames: Float32Array[] = [];
  for (let count = 1; ; count++) {
    signal.throwIfAborted();
    requirePosition(count, longest);
    const names = ['output_sequence_out', 'spectrum', 'prob'];
    const drawn = masks && { dropout_masks: masks(count) };
    const outputs = await step({ ...source, ...drawn, output_sequence: said }, names);
    said = outputs['output_sequence_out']!;
    frames.push(toFloat32(outputs['spectrum']!).slice());
    const end = toFloat32(outputs['prob']!).reduce((sum, probability) => sum + probability, 0);
    if (count >= limits.least && (count >= limits.most || end >= limits.threshold)) return joined(frames);
  }
}

function requirePosition(count: number, longest: number): void {
  if (count <= longest) return;
  throw new RunError(
    'unprocessable',
    `text: the speech came to no end within the ${longest} steps of this model; shorten the text, or lower params.maxlenratio`,
  );
}

function joined(parts: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
