import { RunError } from '../../core/errors.js';
import type { SoundFeatures } from '../processors/audio/sound-features.js';
import { paddingMask, type Port, type TensorLike, type Tensors } from '../sessions/tensors.js';

const MASK = 'attention_mask';

/**
 * A row for a graph: the features under the name that it has for them, and their mask if it takes one. Every input has
 * memory of its own.
 */
export function soundRow(inputs: readonly Port[], features: SoundFeatures): Tensors {
  return Object.fromEntries(
    inputs.map((port) => [port.name, port.name === MASK ? maskOf(features, port) : valuesOf(features)]),
  );
}

const maskOf = ({ mask: { length, content } }: SoundFeatures, { type }: Port): TensorLike =>
  paddingMask(type, length, content);

const valuesOf = ({ values, dims }: SoundFeatures): TensorLike => ({
  type: 'float32',
  data: values,
  dims: [...dims],
});

/** @throws RunError `not_ready` for a graph that wants more than a sound */
export function checkSoundInputs(inputs: readonly Port[], features: SoundFeatures): void {
  const names = inputs.map(({ name }) => name);
  const unknown = names.filter((name) => name !== features.input && name !== MASK);
  if (unknown.length === 0 && names.includes(features.input)) return;
  throw new RunError(
    'not_ready',
    unknown.length > 0
      ? `the graph wants inputs that a sound can't give: ${unknown.join(', ')}`
      : `the graph takes no ${features.input}`,
  );
}
