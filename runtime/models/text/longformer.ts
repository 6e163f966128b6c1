import * as z from 'zod';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { attention } from '../layers/attention.js';
import { linear } from '../layers/linear.js';
import { skipLayerNorm } from '../layers/norm.js';
import { distances, positionsOf, type TextInputs, textInputs } from '../layers/text-inputs.js';
import { textHeads, type TextModel } from '../bases/encoder/encoder-heads.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { ELEMENTS } from '../writer/tensors.js';
import { bertConfig, bertSizes } from '../bases/encoder/bert-config.js';
import { robertaEmbeddings, robertaHeads } from './roberta.js';

const window = z
  .int()
  .min(2)
  .max(2 ** 20)
  .refine((width) => width % 2 === 0, 'must be even');

const config = z
  .object({
    ...bertConfig,
    pad_token_id: z.int().min(0).default(1),
    sep_token_id: z.int().min(0).default(2),
    attention_window: z.union([window, z.array(window).max(1024)]).default(512),
  })
  .refine(
    (c) => typeof c.attention_window === 'number' || c.attention_window.length === c.num_hidden_layers,
    {
      ...{ message: 'is not as long as there are layers', path: ['attention_window'] },
    },
  );
type Config = z.output<typeof config>;

/** Which tokens see all others, and are seen by them: bool [rows, tokens]; undefined for none. */
type Global = (g: GraphWriter, ids: Value, c: Config) => Value | undefined;

const none: Global = () => undefined;

/** bool [1, tokens] */
const firstOnly: Global = (g, ids) => {
  const isFirst = g.node('Equal', [positionsOf(g, ids), g.ints([0], [])]);
  return g.node('Unsqueeze', [isFirst, g.ints([0])]);
};

/** The tokens of the question: those before the first that ends a text. */
const question: Global = (g, ids, c) => {
  const ends = g.node('Cast', [g.node('Equal', [ids, g.ints([c.sep_token_id], [])])], { to: ELEMENTS.int64 });
  return g.node('Less', [positionsOf(g, ids), g.node('ArgMax', [ends], { axis: 1, keepdims: 1 })]);
};

const base = 'longformer.';
/** Least float32, with which Python masks. */
const LEAST = -3.4028234663852886e38;

interface Layer {
  at: (name: string) => string;
  c: Config;
  /** To either side. */
  reach: number;
  isGlobal: Value | undefined;
  padding: Value;
}

/** Added to scores: float32 [1 or rows, 1, queries, keys], for what is within reach, or seen by all. */
function nearMask(g: GraphWriter, x: Value, { reach, isGlobal }: Layer): Value {
  return g.once(`longformer mask ${reach}`, () => {
    const far = g.node('Abs', [distances(g, x)]);
    const near = g.node('Unsqueeze', [g.node('LessOrEqual', [far, g.ints([reach], [])]), g.ints([0, 1])]);
    const seen = isGlobal ? g.node('Or', [near, g.node('Unsqueeze', [isGlobal, g.ints([1, 2])])]) : near;
    return g.node('Where', [seen, g.scalar(0), g.scalar(LEAST)]);
  });
}

/** What all tokens give who see their neighbours, but for those who see everything, by projections of their own. */
function attend(g: GraphWriter, x: Value, layer: Layer): Value {
  const { at, c, isGlobal, padding } = layer;
  const { width, heads } = bertSizes(c);
  const projected = (suffix: string) => {
    const one = (name: string) =>
      linear(g, x, at(`attention.self.${name}${suffix}`), { from: width, to: width });
    return { query: one('query'), key: one('key'), value: one('value') };
  };
  const near = attention(g, projected(''), { heads, width, padding, bias: nearMask(g, x, layer) });
  if (!isGlobal) return near;
  const whole = attention(g, projected('_global'), { heads, width, padding });
  return g.node('Where', [g.node('Unsqueeze', [isGlobal, g.ints([2])]), whole, near]);
}

function writeLayer(g: GraphWriter, x: Value, layer: Layer): Value {
  const { at, c } = layer;
  const { width, inner, epsilon, act } = bertSizes(c);
  const output = linear(g, attend(g, x, layer), at('attention.output.dense'), { from: width, to: width });
  const middle = skipLayerNorm(g, [output, x], at('attention.output.LayerNorm'), { width, epsilon });
  const wide = activation(g, linear(g, middle, at('intermediate.dense'), { from: width, to: inner }), act);
  const narrow = linear(g, wide, at('output.dense'), { from: inner, to: width });
  return skipLayerNorm(g, [narrow, middle], at('output.LayerNorm'), { width, epsilon });
}

function statesOf(g: GraphWriter, c: Config, global: Global): Value {
  const inputs: TextInputs = textInputs(g);
  const isGlobal = global(g, inputs.ids, c);
  let x = robertaEmbeddings(g, inputs.ids, `${base}embeddings`, c);
  for (let i = 0; i < c.num_hidden_layers; i++) {
    const whole = typeof c.attention_window === 'number' ? c.attention_window : c.attention_window[i]!;
    const at = (name: string) => `${base}encoder.layer.${i}.${name}`;
    x = writeLayer(g, x, { at, c, reach: whole / 2, isGlobal, padding: inputs.padding });
  }
  return x;
}

const headsOf = (global: Global) =>
  textHeads((c: Config): TextModel => ({
    ...bertSizes(c),
    states: (g) => statesOf(g, c, global),
    ...robertaHeads(c, base),
  }));

const [plain, first, asked] = [headsOf(none), headsOf(firstOnly), headsOf(question)];

/**
 * RoBERTa whose tokens see their neighbours, and a few that the task names see all. Scores of all pairs are computed, of which
 * most are masked: longer texts take more memory than in Python. modeling_longformer.py
 */
export const longformer = defineFamily({
  modelTypes: ['longformer'],
  readers: { positions: 'after-padding' },
  limits: [
    'Memory grows with the square of a text: scores of all pairs are computed, and those beyond the windows are masked.',
  ],
  config,
  prefixes: [base],
  heads: {
    ...plain,
    'sequence-classification': first['sequence-classification']!,
    entailment: first.entailment!,
    'question-answering': asked['question-answering']!,
  },
});
