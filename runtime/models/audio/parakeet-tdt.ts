import * as z from 'zod';
import { size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { embedding, linear } from '../layers/linear.js';
import { lstmSteps } from '../layers/lstm.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { ELEMENTS } from '../writer/tensors.js';
import { parakeetAudio, parakeetEncoder, parakeetSteps } from './parakeet.js';

const config = z
  .object({
    encoder_config: parakeetEncoder,
    vocab_size: size.default(8193),
    decoder_hidden_size: size.default(640),
    num_decoder_layers: z.int().min(1).max(64).default(2),
    hidden_act: z.string().default('relu'),
    max_symbols_per_step: z.int().min(1).max(1000).default(10),
    blank_token_id: z.int().min(0).default(8192),
    durations: z.array(z.int().min(0)).min(1).max(1000).default([0, 1, 2, 3, 4]),
  })
  .refine((c) => c.blank_token_id < c.vocab_size, { message: 'is no token', path: ['blank_token_id'] })
  // Python takes the place of a duration for its length, whatever was trained.
  .refine((c) => c.durations.every((steps, i) => steps === i), {
    ...{ message: 'other than 0, 1, 2, … in turn are not known', path: ['durations'] },
  });
type Config = z.output<typeof config>;

const float = (g: GraphWriter, x: Value) => g.node('Cast', [x], { to: ELEMENTS.float32 });
const int = (g: GraphWriter, x: Value) => g.node('Cast', [x], { to: ELEMENTS.int64 });

/** What it scores, each joined with what the texts so far have become. */
interface Heard {
  /** float32 [rows, steps, width] */
  states: Value;
  /** float32 [rows]: how many of them are no padding. */
  lengths: Value;
}

/** The steps' scores of tokens and durations, and which is best of each: float32 [rows]. */
function best(g: GraphWriter, joined: Value, c: Config): [token: Value, duration: Value] {
  const to = c.vocab_size + c.durations.length;
  const scores = linear(g, activation(g, joined, c.hidden_act), 'joint.head', {
    ...{ from: c.decoder_hidden_size, to },
  });
  const parts = g.nodes('Split', [scores, g.ints([c.vocab_size, c.durations.length])], {
    ...{ outputs: 2, attributes: { axis: 1 } },
  });
  return parts.map((part) => float(g, g.node('ArgMax', [part], { axis: 1, keepdims: 0 }))) as [Value, Value];
}

/** Tokens as they are written, blanks among them, -1 behind the last one of a row: float32 [rows, tokens]. */
function written(g: GraphWriter, { states, lengths }: Heard, c: Config): Value {
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
  ];
  const blank = g.scalar(c.blank_token_id);
  const found = g.loop(most, carried, (index, [before, frame, hidden, cell, kept]) => {
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
    const [token, spoken] = best(g, g.node('Add', [heard, text]), c);
    const isStill = g.node('And', [g.node('Equal', [token, blank]), g.node('Equal', [spoken, g.scalar(0)])]);
    const then = g.node('Add', [frame!, g.node('Where', [isStill, g.scalar(1), spoken])]);
    const isOpen = g.node('Or', [g.node('Less', [frame!, lengths]), isFirst]);
    const isLeft = float(g, g.node('Less', [then, lengths]));
    const any = g.node('ReduceMax', [isLeft, g.ints([0])], { keepdims: 0 });
    return {
      goesOn: g.node('Greater', [any, g.scalar(0)]),
      states: [
        ...[token, then, g.node('Where', [ofRow, next.hidden, hidden!])],
        ...[g.node('Where', [ofRow, next.cell, cell!]), text],
      ],
      given: [{ value: g.node('Where', [isOpen, token, g.scalar(-1)]), shape: ['rows'] }],
    };
  });
  return g.node('Transpose', [found.at(-1)!], { perm: [1, 0] });
}

/** `tokens` float32 [rows, most]: of as many as there could be, so that rows of a run don't depend on each other. */
function writeTransducer(g: GraphWriter, c: Config): void {
  const { states, seen } = parakeetSteps(g, c.encoder_config);
  const projected = linear(g, states, 'encoder_projector', {
    ...{ from: c.encoder_config.hidden_size, to: c.decoder_hidden_size },
  });
  const lengths = g.node('ReduceSum', [float(g, seen), g.ints([1])], { keepdims: 0 });
  const tokens = written(g, { states: projected, lengths }, c);
  const steps = g.node('Shape', [projected], { start: 1, end: 2 });
  const most = g.node('Mul', [steps, g.ints([c.max_symbols_per_step])]);
  const missing = g.node('Sub', [most, g.node('Shape', [tokens], { start: 1, end: 2 })]);
  const pads = g.node('Concat', [g.ints([0, 0, 0]), missing], { axis: 0 });
  g.output('tokens', g.node('Pad', [tokens, pads, g.scalar(-1)]), 'float32', ['rows', 'most']);
}

/** FastConformer and an LSTM over what has been written, which say together what comes next and how long it takes. modeling_parakeet.py */
export const parakeetTdt = defineFamily({
  modelTypes: ['parakeet_tdt'],
  memory: { audio: parakeetAudio },
  usualTask: 'automatic-speech-recognition',
  config,
  prefixes: [],
  heads: { ctc: { model: writeTransducer } },
  limits: ['Times of tokens and words are not told, on which Python’s own pipeline fails.'],
});
