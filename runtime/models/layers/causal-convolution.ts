import type { GraphWriter, Value } from '../writer/graph-writer.js';
import type { DecoderInputs } from './decoder-inputs.js';

export interface CausalConvolution {
  layer: number;
  channels: number;
  /** Tokens that it sees, the token itself included; two or more. */
  kernel: number;
  bias: boolean;
  /** Of its weight, [channels, 1, kernel]; or of those of its parts, one behind the other, with their channels. */
  name: string | readonly (readonly [name: string, channels: number])[];
}

/**
 * A convolution of each channel over a token and those before it: float32 [rows, tokens, channels]. What it keeps of former tokens is
 * the state `conv`.
 */
export function causalConvolution(
  g: GraphWriter,
  x: Value,
  inputs: DecoderInputs,
  { layer, channels, kernel, bias, name }: CausalConvolution,
): Value {
  const dims = [channels, kernel - 1];
  const own = g.node('Transpose', [x], { perm: [0, 2, 1] });
  const all = g.node('Concat', [inputs.state('conv', layer, dims), own], { axis: 2 });
  const last = g.node('Slice', [all, g.ints([1 - kernel]), g.ints([2 ** 53]), g.ints([2])]);
  inputs.nextState('conv', layer, last, dims);
  const whole = (ending: string, dims: readonly number[]) =>
    typeof name === 'string'
      ? g.weight(`${name}.${ending}`, [channels, ...dims])
      : g.node(
          'Concat',
          name.map(([part, own]) => g.weight(`${part}.${ending}`, [own, ...dims])),
          { axis: 0 },
        );
  const weights = [whole('weight', [1, kernel]), ...(bias ? [whole('bias', [])] : [])];
  const found = g.node('Conv', [all, ...weights], { group: channels, kernel_shape: [kernel] });
  return g.node('Transpose', [found], { perm: [0, 2, 1] });
}
