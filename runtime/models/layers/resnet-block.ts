import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { activation } from './activation.js';
import { convolution2d } from './convolution.js';
import { groupNorm } from './group-norm.js';
import { linear } from './linear.js';

/** What a network of diffusion knows of the time. */
export interface TimeStates {
  /** float32 [1 or rows, width] */
  states: Value;
  width: number;
  /** True where it scales what the second norm gives, and not only moves it. */
  scales: boolean;
}

export interface ResidualBlock {
  from: number;
  to: number;
  groups: number;
  epsilon: number;
  act: string;
  time?: TimeStates | undefined;
  /** What the sum is divided by. */
  divisor?: number;
}

/** diffusers' ResnetBlock2D: float32 [rows, from, height, width] -> [rows, to, height, width]. */
export function residualBlock(g: GraphWriter, x: Value, name: string, block: ResidualBlock): Value {
  const { from, to, groups, epsilon, act, time, divisor = 1 } = block;
  const at = (part: string) => `${name}.${part}`;
  const normed = (value: Value, part: string, width: number) =>
    groupNorm(g, value, at(part), { width, groups, epsilon });
  const first = activation(g, normed(x, 'norm1', from), act);
  const found = convolution2d(g, first, at('conv1'), { from, to, kernel: 3 });
  const timed = time ? withTime(g, found, at('time_emb_proj'), { time, to, act }) : { before: found };
  const second = normed(timed.before, 'norm2', to);
  const read = activation(g, timed.after?.(second) ?? second, act);
  const added = convolution2d(g, read, at('conv2'), { from: to, to, kernel: 3 });
  const kept = from === to ? x : convolution2d(g, x, at('conv_shortcut'), { from, to, kernel: 1 });
  const sum = g.node('Add', [kept, added]);
  return divisor === 1 ? sum : g.node('Div', [sum, g.scalar(divisor)]);
}

interface Timed {
  /** What the second norm reads, and what comes behind it. */
  before: Value;
  after?(x: Value): Value;
}

function withTime(
  g: GraphWriter,
  x: Value,
  name: string,
  { time, to, act }: { time: TimeStates; to: number; act: string },
): Timed {
  const read = g.once(`${act} of ${time.states}`, () => activation(g, time.states, act));
  const parts = time.scales ? 2 : 1;
  const all = linear(g, read, name, { from: time.width, to: parts * to });
  const positions = g.node('Unsqueeze', [all, g.ints([2, 3])]);
  if (!time.scales) return { before: g.node('Add', [x, positions]) };
  const [scale, shift] = g.nodes('Split', [positions, g.ints([to, to])], {
    ...{ outputs: 2, attributes: { axis: 1 } },
  }) as [Value, Value];
  const factor = g.node('Add', [scale, g.scalar(1)]);
  return { before: x, after: (normed) => g.node('Add', [g.node('Mul', [normed, factor]), shift]) };
}
