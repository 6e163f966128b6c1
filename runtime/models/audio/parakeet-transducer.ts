import * as z from 'zod';
import { size } from '../config-fields.js';
import { activation } from '../layers/activation.js';
import { embedding, linear } from '../layers/linear.js';
import { lstmSteps } from '../layers/lstm.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { ELEMENTS } from '../writer/tensors.js';
import { parakeetEncoder, parakeetSteps } from './parakeet.js';

/** Fields of all transducers. */
export const transducerFields = {
  encoder_config: parakeetEncoder,
  vocab_size: size.default(8193),
  decoder_hidden_size: size.default(640),
  num_decoder_layers: z.int().min(1).max(64).default(2),
  hidden_act: z.string().default('relu'),
  max_symbols_per_step: z.int().min(1).max(1000).default(10),
  blank_token_id: z.int().min(0).default(8192),
};
type Fields = z.output<z.ZodObject<typeof transducerFields>>;

/** For `refine`: what Python's embedding fails on. */
export const isBlankToken = (c: Pick<Fields, 'blank_token_id' | 'vocab_size'>): boolean =>
  c.blank_token_id < c.vocab_size;
export const NO_BLANK = { message: 'is no token', path: ['blank_token_id'] };

/** A limit of all transducers. */
export const NO_TIMES = 'Times of tokens and words are not told, on which Python’s own pipeline fails.';

/** What is known when a token has been chosen. */
interface Chosen {
  /** bool [rows] */
  isBlank: Value;
  /** float32 [rows, scores]: those behind the tokens' own; absent without any. */
  others?: Value | undefined;
}

/** How many steps of the audio a token takes. */
export interface Pace {
  /** How many scores stand behind those of tokens. */
  scores: number;
  /** States that it carries along, float32 [rows], 0 at first. */
  states: number;
  /** @returns steps, float32 [rows], and its states after them */
  take(g: GraphWriter, chosen: Chosen, states: Value[]): { steps: Value; states: Value[] };
}

const float = (g: GraphWriter, x: Value) => g.node('Cast', [x], { to: ELEMENTS.float32 });
const int = (g: GraphWriter, x: Value) => g.node('Cast', [x], { to: ELEMENTS.int64 });

/** What it scores, each joined with what the texts so far have become. */
interface Heard {
  /** float32 [rows, steps, width] */
  states: Value;
  /** float32 [rows]: how many of them are no padding. */
  lengths: Value;
}

interface Best {
  /** float32 [rows] */
  token: Value;
  others?: Value | undefined;
}

/** The likeliest token of a step, and what is scored beside tokens. */
function best(g: GraphWriter, joined: Value, c: Fields, beside: number): Best {
  const scores = linear(g, activation(g, joined, c.hidden_act), 'joint.head', {
    ...{ from: c.decoder_hidden_size, to: c.vocab_size + beside },
  });
  const parts =
    beside === 0
      ? [scores]
      : g.nodes('Split', [scores, g.ints([c.vocab_size, beside])], { outputs: 2, attributes: { axis: 1 } });
  return { token: likeliest(g, parts[0]!), others: parts[1] };
}

/** The place of the largest number of each row: float32 [rows]. */
export const likeliest = (g: GraphWriter, scores: Value): Value =>
  float(g, g.node('ArgMax', [scores], { axis: 1, keepdims: 0 }));

/** Tokens as they are written, blanks among them, -1 behind the last one of a row: float32 [rows, tokens]. */
function written(g: GraphWriter, { states, lengths }: Heard, c: Fields, pace: Pace): Value {
  const [width, layers] = [c.decoder_hidden_size, c.num_decoder_layers];
  const shape = g.node('Shape', [states]);
  const rows = g.node('Slice', [shape, g.ints([0]), g.ints([1])]);
  const steps = g.node('Gather', [shape, g.ints([1], [])]);
  const one = g.ints([1], []);
  const last = g.node('Sub', [steps, one]);
  const most = g.node('Sub', [g.node('Mul', [steps, g.ints([c.max_symbols_per_step], [])]), one]);
  const filled = (value: number, ...axes: Value[]) =>
    g.node('Expand', [g.scalar(value), axes.length > 1 ? g.node('Concat', axes, { axis: 0 }) : axes[0]!]);
  const advance = lstmSteps(g, 'decoder.lstm', { width, layers });
  const state = [layers, 'rows', width];
  const carried = [
    { value: filled(c.blank_token_id, rows), shape: ['rows'] },
    { value: filled(0, rows), shape: ['rows'] },
    { value: filled(0, g.ints([layers]), rows, g.ints([width])), shape: state },
    { value: filled(0, g.ints([layers]), rows, g.ints([width])), shape: state },
    { value: filled(0, rows, g.ints([width])), shape: ['rows', width] },
    ...Array.from({ length: pace.states }, () => ({ value: filled(0, rows), shape: ['rows'] })),
  ];
  const blank = g.scalar(c.blank_token_id);
  const found = g.loop(most, carried, (index, [before, frame, hidden, cell, kept, ...counts]) => {
    const isFirst = g.node('Equal', [index, g.ints([0], [])]);
    const read = g.node('Or', [g.node('Not', [g.node('Equal', [before!, blank])]), isFirst]);
    const tokens = embedding(g, int(g, before!), 'decoder.embedding', { rows: c.vocab_size, width });
    const next = advance(g.node('Unsqueeze', [tokens, g.ints([0])]), { hidden: hidden!, cell: cell! });
    const top = g.node('Gather', [next.hidden, g.ints([layers - 1], [])], { axis: 0 });
    const projected = linear(g, top, 'decoder.decoder_projector', { from: width, to: width });
    const ofRow = g.node('Unsqueeze', [read, g.ints([1])]);
    const text = g.node('Where', [ofRow, projected, kept!]);
    const place = g.node('Min', [int(g, frame!), last]);
    const heard = g.node('GatherND', [states, g.node('Unsqueeze', [place, g.ints([1])])], { batch_dims: 1 });
    const { token, others } = best(g, g.node('Add', [heard, text]), c, pace.scores);
    const isBlank = g.node('Equal', [token, blank]);
    const taken = pace.take(g, { isBlank, others }, counts);
    const then = g.node('Add', [frame!, taken.steps]);
    const isOpen = g.node('Or', [g.node('Less', [frame!, lengths]), isFirst]);
    const isLeft = float(g, g.node('Less', [then, lengths]));
    const any = g.node('ReduceMax', [isLeft, g.ints([0])], { keepdims: 0 });
    return {
      goesOn: g.node('Greater', [any, g.scalar(0)]),
      states: [
        ...[token, then, g.node('Where', [ofRow, next.hidden, hidden!])],
        ...[g.node('Where', [ofRow, next.cell, cell!]), text, ...taken.states],
      ],
      given: [{ value: g.node('Where', [isOpen, token, g.scalar(-1)]), shape: ['rows'] }],
    };
  });
  return g.node('Transpose', [found.at(-1)!], { perm: [1, 0] });
}

/** `tokens` float32 [rows, most]: of as many as there could be, so that rows of a run don't depend on each other. */
export function writeTransducer(g: GraphWriter, c: Fields, pace: Pace): void {
  const { states, seen } = parakeetSteps(g, c.encoder_config);
  const projected = linear(g, states, 'encoder_projector', {
    ...{ from: c.encoder_config.hidden_size, to: c.decoder_hidden_size },
  });
  const lengths = g.node('ReduceSum', [float(g, seen), g.ints([1])], { keepdims: 0 });
  const tokens = written(g, { states: projected, lengths }, c, pace);
  const steps = g.node('Shape', [projected], { start: 1, end: 2 });
  const most = g.node('Mul', [steps, g.ints([c.max_symbols_per_step])]);
  const missing = g.node('Sub', [most, g.node('Shape', [tokens], { start: 1, end: 2 })]);
  const pads = g.node('Concat', [g.ints([0, 0, 0]), missing], { axis: 0 });
  g.output('tokens', g.node('Pad', [tokens, pads, g.scalar(-1)]), 'float32', ['rows', 'most']);
}
