import * as z from 'zod';
import { defineFamily } from '../../family.js';
import { activation } from '../../layers/activation.js';
import { attention } from '../../layers/attention.js';
import { byHead } from '../../layers/split-heads.js';
import { headWidth } from '../../layers/head-sizes.js';
import { linear, lookedUp } from '../../layers/linear.js';
import { layerNorm } from '../../layers/norm.js';
import { textInputs } from '../../layers/text-inputs.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { ELEMENTS } from '../../writer/tensors.js';
import { layers, size } from '../../config-fields.js';
import { t5Config, t5Model } from '../../bases/encoder-decoder/t5-model.js';
import { encodecConfig, encodecAudio } from './encodec.js';

const config = z
  .object({
    text_encoder: t5Config.extend({ model_type: z.literal('t5', 'texts are read by T5 only') }),
    audio_encoder: encodecConfig,
    decoder: z.object({
      ...{ vocab_size: size.default(2048), hidden_size: size.default(1024), ffn_dim: size.default(4096) },
      num_hidden_layers: layers.min(1).default(24),
      num_attention_heads: size.default(16),
      activation_function: z.string().default('gelu'),
      num_codebooks: z.int().min(1).max(64).default(4),
      audio_channels: z.literal(1, 'only one channel is known').default(1),
      cross_attention_hidden_size: z.null('states of other widths are not known').optional(),
    }),
  })
  .refine(({ decoder: { hidden_size: width } }) => width % 2 === 0 && width > 2, {
    ...{ message: 'must be even, for sines and cosines', path: ['decoder', 'hidden_size'] },
  });
type Config = z.output<typeof config>;

const EPSILON = 1e-5;
const KINDS = ['key', 'value'] as const;
type Kind = (typeof KINDS)[number];
type Side = 'decoder' | 'encoder';

/** Keys and values of a layer as the graphs name and shape them, [rows, heads, length, width of a head]. */
function cachePort(layer: number, side: Side, kind: Kind, { decoder: d }: Config) {
  const length = side === 'encoder' ? 'length' : 'steps';
  const shape = ['rows', d.num_attention_heads, length, headWidth(d.hidden_size, d.num_attention_heads)];
  return { name: `${layer}.${side}.${kind}`, shape };
}

/** What the decoder attends to in its first run: states of the text, zeros where there is none. */
function sourceStates(g: GraphWriter, mask: Value, { text_encoder: text, decoder: d }: Config): Value {
  const states = g.input('encoder_hidden_states', 'float32', ['rows', 'length', text.d_model]);
  const size = { from: text.d_model, to: d.hidden_size };
  const wide = text.d_model === d.hidden_size ? states : linear(g, states, 'enc_to_dec_proj', size);
  const seen = g.node('Unsqueeze', [g.node('Cast', [mask], { to: ELEMENTS.float32 }), g.ints([2])]);
  return g.node('Mul', [wide, seen]);
}

/** Vectors of the last step's codes [rows · codebooks, 1], summed, at their position: float32 [rows, 1, width]. */
function embedded(g: GraphWriter, past: Value | undefined, { decoder: d }: Config): Value {
  const { num_codebooks: books, hidden_size: width } = d;
  const ids = g.input('input_ids', 'int64', ['codes', 1]);
  const columns = g.node('Reshape', [ids, g.ints([-1, books, 1])]);
  const vectors = Array.from({ length: books }, (_, i) => {
    const codes = g.node('Gather', [columns, g.ints([i], [])], { axis: 1 });
    const table = `decoder.model.decoder.embed_tokens.${i}.weight`;
    return lookedUp(g, codes, table, { rows: d.vocab_size + 1, width });
  });
  const place = past ? g.node('Shape', [past], { start: 2, end: 3 }) : g.ints([0]);
  const step = Math.log(10_000) / (width / 2 - 1);
  const frequencies = g.floats(Array.from({ length: width / 2 }, (_, i) => Math.exp(-i * step)));
  const angles = g.node('Mul', [g.node('Cast', [place], { to: ELEMENTS.float32 }), frequencies]);
  const positions = g.node('Concat', [g.node('Cos', [angles]), g.node('Sin', [angles])], { axis: 0 });
  return [...vectors, positions].reduce((a, b) => g.node('Add', [a, b]));
}

/** One step of all rows; the first one makes keys and values of the source, others have a cache. */
const writeStep =
  (isFirst: boolean) =>
  (g: GraphWriter, c: Config): void => {
    const { decoder: d } = c;
    const [width, heads] = [d.hidden_size, d.num_attention_heads];
    const mask = g.input('encoder_attention_mask', 'int64', ['rows', 'length']);
    const padding = g.node('Cast', [mask], { to: ELEMENTS.int32 });
    const source = isFirst ? sourceStates(g, mask, c) : undefined;
    const at = (name: string) => `decoder.model.decoder.${name}`;
    const past = (layer: number, side: Side) =>
      KINDS.map((kind) => {
        const { name, shape } = cachePort(layer, side, kind, c);
        return g.input(`past_key_values.${name}`, 'float32', shape);
      });
    const present = (layer: number, side: Side, values: readonly Value[]) =>
      KINDS.forEach((kind, i) => {
        const { name, shape } = cachePort(layer, side, kind, c);
        const grown = side === 'encoder' ? shape : shape.map((one) => (one === 'steps' ? 'all_steps' : one));
        g.output(`present.${name}`, values[i]!, 'float32', grown);
      });
    const caches = Array.from({ length: d.num_hidden_layers }, (_, i) =>
      isFirst ? undefined : past(i, 'decoder'),
    );
    let x = embedded(g, caches[0]?.[0], c);
    for (let i = 0; i < d.num_hidden_layers; i++) {
      const project = (read: Value, name: string) =>
        linear(g, read, at(`layers.${i}.${name}`), { from: width, to: width, bias: false });
      const keysValues = (read: Value, of: string) =>
        ['k_proj', 'v_proj'].map((name) =>
          byHead(
            g,
            project(read, `${of}.${name}`),
            d.num_attention_heads,
            headWidth(width, d.num_attention_heads),
          ),
        );
      const around = (of: string, attended: (read: Value) => readonly [Value, Value, Value]) => {
        const read = layerNorm(g, x, at(`layers.${i}.${of}_layer_norm`), { width, epsilon: EPSILON });
        const [query, key, value] = attended(read);
        const found = attention(
          g,
          { query, key, value },
          {
            ...{ heads, width, padding: of === 'encoder_attn' ? padding : '' },
          },
        );
        x = g.node('Add', [x, project(found, `${of}.out_proj`)]);
      };
      around('self_attn', (read) => {
        const fed = keysValues(read, 'self_attn');
        const before = caches[i];
        const all = fed.map((one, j) => (before ? g.node('Concat', [before[j]!, one], { axis: 2 }) : one));
        present(i, 'decoder', all);
        return [project(read, 'self_attn.q_proj'), all[0]!, all[1]!];
      });
      around('encoder_attn', (read) => {
        const all = source ? keysValues(source, 'encoder_attn') : past(i, 'encoder');
        if (source) present(i, 'encoder', all);
        return [project(read, 'encoder_attn.q_proj'), all[0]!, all[1]!];
      });
      const read = layerNorm(g, x, at(`layers.${i}.final_layer_norm`), { width, epsilon: EPSILON });
      const size = { from: width, to: d.ffn_dim, bias: false };
      const wide = activation(g, linear(g, read, at(`layers.${i}.fc1`), size), d.activation_function);
      const narrow = { from: d.ffn_dim, to: width, bias: false };
      x = g.node('Add', [x, linear(g, wide, at(`layers.${i}.fc2`), narrow)]);
    }
    writeScores(g, layerNorm(g, x, at('layer_norm'), { width, epsilon: EPSILON }), c);
  };

/** `logits` [rows · codebooks, 1, vocabulary], the codebooks of a row one below the other. */
function writeScores(g: GraphWriter, x: Value, { decoder: d }: Config): void {
  const size = { from: d.hidden_size, to: d.vocab_size, bias: false };
  const scores = Array.from({ length: d.num_codebooks }, (_, i) =>
    linear(g, x, `decoder.lm_heads.${i}`, size),
  );
  const all = g.node('Reshape', [g.node('Concat', scores, { axis: 1 }), g.ints([-1, 1, d.vocab_size])]);
  g.output('logits', all, 'float32', ['codes', 1, d.vocab_size]);
}

/** A text encoder, a decoder of codes that takes one step a run, and the codec that makes audio of them. modeling_musicgen.py */
export const musicgen = defineFamily({
  modelTypes: ['musicgen'],
  readers: { audio: 'musicgen' },
  limits: ['One channel only: checkpoints for stereo are refused.'],
  usualTask: 'text-to-audio',
  config,
  prefixes: [],
  parts: { 'shared.': ['text_encoder.shared.'], 'encoder.': ['text_encoder.encoder.'] },
  heads: {
    speech: {
      text_encoder(g, { text_encoder: text }) {
        const states = t5Model(text).encode(g, textInputs(g));
        g.output('last_hidden_state', states, 'float32', ['rows', 'tokens', text.d_model]);
      },
      decoder_model: writeStep(true),
      decoder_with_past_model: writeStep(false),
      encodec_decode(g, { audio_encoder: codec, decoder: { num_codebooks: codebooks } }) {
        const codes = g.input('audio_codes', 'int64', [1, 1, codebooks, 'frames']);
        const one = g.node('Squeeze', [codes, g.ints([0])]);
        const audio = encodecAudio(g, one, codec, { codebooks, base: 'audio_encoder.' });
        g.output('audio_values', audio, 'float32', [1, 1, 'samples']);
      },
    },
  },
});
