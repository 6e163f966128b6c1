import { checkLayouts, type Defaults } from '../../../../runtime/engines/llama/ffi/check-layouts.js';
import {
  CONTEXT_PARAMS,
  type Layout,
  LLAMA_VERSION,
  MODEL_PARAMS,
} from '../../../../runtime/engines/llama/ffi/layouts.js';

const defaultsOf = (layout: Layout) => Object.fromEntries(layout.map(([name, , value]) => [name, value]));

const right = (): Defaults => ({
  version: LLAMA_VERSION,
  model: defaultsOf(MODEL_PARAMS),
  context: defaultsOf(CONTEXT_PARAMS),
});

test('the library that the layouts were written for is taken', () => {
  expect(() => checkLayouts(right())).not.toThrow();
});

test('another release is refused', () => {
  expect(() => checkLayouts({ ...right(), version: '0.6.0-dev' })).toThrow(
    /not the one .*it is version 0\.6\.0-dev/,
  );
});

test.each([
  ['model', 'use_extra_bufts', false],
  ['context', 'n_seq_max', 0],
  ['context', 'type_v', 0],
] as const)('a field of %s that has moved is refused: %s', (struct, field, value) => {
  const shifted = right();
  shifted[struct] = { ...shifted[struct], [field]: value };
  expect(() => checkLayouts(shifted)).toThrow(`llama_${struct}_params.${field} is ${value} by default`);
});
