import { RunError } from '../../core/errors.js';
import type { AudioFeatures } from '../processors/audio/audio-features.js';
import { paddingMask, type Port, type TensorLike, type Tensors } from '../sessions/tensors.js';

const MASK = 'attention_mask';

/**
 * A row for a graph: the features under the name that it has for them, and their mask if it takes one. Every input has
 * memory of its own.
 */
export function audioRow(inputs: readonly Port[], features: AudioFeatures): Tensors {
  return Object.fromEntries(
    inputs.map((port) => [port.name, port.name === MASK ? maskOf(features, port) : valuesOf(features)]),
  );
}

const maskOf = ({ mask: { length, content } }: AudioFeatures, { type }: Port): TensorLike =>
  paddingMask(type, length, content);

const valuesOf = ({ values, dims }: AudioFeatures): TensorLike => ({
  type: 'float32',
  data: values,
  dims: [...dims],
});

/** @throws RunError `not_ready` for a graph that wants more than an audio clip */
export function checkAudioInputs(inputs: readonly Port[], features: AudioFeatures): void {
  const names = inputs.map(({ name }) => name);
  const unknown = names.filter((name) => name !== features.input && name !== MASK);
  if (unknown.length === 0 && names.includes(features.input)) return;
  throw new RunError(
    'not_ready',
    unknown.length > 0
      ? `the graph wants inputs that an audio clip can't give: ${unknown.join(', ')}`
      : `the graph takes no ${features.input}`,
  );
}
