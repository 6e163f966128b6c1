import { attention } from '../../layers/attention.js';
import { batchNorm, convolution } from '../../layers/convolution.js';
import { headWidth } from '../../layers/head-sizes.js';
import { linear } from '../../layers/linear.js';
import { byHead } from '../../layers/split-heads.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import type { SpeechT5Config } from './config.js';
import { type Attending, decoderLayers, sourcePair } from './decoder.js';
import { scaledPositions } from './positions.js';

const PRENET = 'speecht5.decoder.prenet';
const POSTNET = 'speech_decoder_postnet';

const LAST = 2 ** 53;
/** Of torch's normalize. */
const LEAST_LENGTH = 1e-12;

/** The voice, of length 1: float32 [1, 1, speaker_embedding_dim]. */
function voiceOf(g: GraphWriter, { speaker_embedding_dim: size }: SpeechT5Config): Value {
  const given = g.input('speaker_embeddings', 'float32', [1, size]);
  const length = g.node('ReduceL2', [given, g.ints([1])], { keepdims: 1 });
  const voice = g.node('Div', [given, g.node('Max', [length, g.scalar(LEAST_LENGTH)])]);
  return g.node('Unsqueeze', [voice, g.ints([1])]);
}

/** What the decoder reads of the last frame. Dropout is a part of it, whose masks the engine draws. */
function readFrame(g: GraphWriter, said: Value, c: SpeechT5Config): Value {
  const { speech_decoder_prenet_layers: count, speech_decoder_prenet_units: units, hidden_size: width } = c;
  const masks = g.input('dropout_masks', 'float32', [count, units]);
  const kept = g.scalar(1 - c.speech_decoder_prenet_dropout);
  let x = g.node('Slice', [said, g.ints([-1]), g.ints([LAST]), g.ints([1])]);
  for (let i = 0; i < count; i++) {
    const size = { from: i === 0 ? c.num_mel_bins : units, to: units };
    const wide = g.node('Relu', [linear(g, x, `${PRENET}.layers.${i}`, size)]);
    x = g.node('Div', [g.node('Mul', [wide, g.node('Gather', [masks, g.ints([i])])]), kept]);
  }
  const frame = linear(g, x, `${PRENET}.final_layer`, { from: units, to: width });
  const place = g.node('Sub', [g.node('Shape', [said], { start: 1, end: 2 }), g.ints([1])]);
  const placed = g.node('Add', [frame, scaledPositions(g, place, PRENET, width)]);
  const both = g.node('Concat', [placed, voiceOf(g, c)], { axis: -1 });
  const size = { from: width + c.speaker_embedding_dim, to: width };
  return g.node('Relu', [linear(g, both, `${PRENET}.speaker_embeds_layer`, size)]);
}

const KINDS = ['key', 'value'] as const;
type Side = 'decoder' | 'encoder';

/** Attention with keys and values of a cache, or of the first step, which become outputs. */
function attending(g: GraphWriter, c: SpeechT5Config, isFirst: boolean): Attending {
  const { hidden_size: width, decoder_attention_heads: heads } = c;
  const size = headWidth(width, heads);
  const shapeOf = (length: string) => [1, heads, length, size];
  const lengthOf = (side: Side) => (side === 'encoder' ? 'length' : 'past_steps');
  const past = (layer: number, side: Side) =>
    KINDS.map((kind) =>
      g.input(`past_key_values.${layer}.${side}.${kind}`, 'float32', shapeOf(lengthOf(side))),
    );
  const present = (layer: number, side: Side, values: readonly Value[]) =>
    KINDS.forEach((kind, i) => {
      const length = side === 'encoder' ? 'length' : 'all_steps';
      g.output(`present.${layer}.${side}.${kind}`, values[i]!, 'float32', shapeOf(length));
    });
  const states = isFirst ? g.input('encoder_hidden_states', 'float32', [1, 'length', width]) : '';
  const attend = (query: Value, [key, value]: readonly Value[]) =>
    attention(g, { query, key: key!, value: value! }, { heads, width });
  return {
    attendSelf(layer, { query, key, value }) {
      const fed = [key, value].map((one) => byHead(g, one, heads, size));
      const before = isFirst ? [] : past(layer, 'decoder');
      const all = fed.map((one, i) => (isFirst ? one : g.node('Concat', [before[i]!, one], { axis: 2 })));
      present(layer, 'decoder', all);
      return attend(query, all);
    },
    attendSource(layer, query) {
      if (!isFirst) return attend(query, past(layer, 'encoder'));
      const { key, value } = sourcePair(g, layer, states, c);
      const all = [key, value].map((one) => byHead(g, one, heads, size));
      present(layer, 'encoder', all);
      return attend(query, all);
    },
  };
}

/**
 * One step: `output_sequence` [1, steps, num_mel_bins], the last frame of each step so far, `speaker_embeddings`, `dropout_masks`
 * -> `spectrum` [reduction_factor, num_mel_bins], `prob` [reduction_factor] that it is the last one, and the sequence with this
 * step's. The first step reads `encoder_hidden_states`, others a cache.
 */
export const writeStep =
  (isFirst: boolean) =>
  (g: GraphWriter, c: SpeechT5Config): void => {
    const { hidden_size: width, num_mel_bins: bands, reduction_factor: frames } = c;
    const said = g.input('output_sequence', 'float32', [1, 'steps', bands]);
    const state = attending(g, c, isFirst);
    const last = decoderLayers(g, readFrame(g, said, c), c, state);
    const made = linear(g, last, `${POSTNET}.feat_out`, { from: width, to: bands * frames });
    const spectrum = g.node('Reshape', [made, g.ints([frames, bands])]);
    const ends = linear(g, last, `${POSTNET}.prob_out`, { from: width, to: frames });
    const frame = g.node('Reshape', [
      ...[g.node('Gather', [spectrum, g.ints([frames - 1])]), g.ints([1, 1, bands])],
    ]);
    g.output('spectrum', spectrum, 'float32', [frames, bands]);
    g.output('prob', g.node('Reshape', [g.node('Sigmoid', [ends]), g.ints([frames])]), 'float32', [frames]);
    const longer = g.node('Concat', [said, frame], { axis: 1 });
    g.output('output_sequence_out', longer, 'float32', [1, 'more_steps', bands]);
  };

/** `spectrogram` [frames, num_mel_bins] -> `smoothed` of that shape: convolutions over all frames, added to them. */
export function writePostnet(g: GraphWriter, c: SpeechT5Config): void {
  const {
    num_mel_bins: bands,
    speech_decoder_postnet_layers: count,
    speech_decoder_postnet_units: units,
  } = c;
  const kernel = c.speech_decoder_postnet_kernel;
  const given = g.input('spectrogram', 'float32', ['frames', bands]);
  let x = g.node('Unsqueeze', [g.node('Transpose', [given], { perm: [1, 0] }), g.ints([0])]);
  for (let i = 0; i < count; i++) {
    const to = i === count - 1 ? bands : units;
    const size = { from: i === 0 ? bands : units, to, kernel: [kernel], padding: [(kernel - 1) / 2] };
    const at = `${POSTNET}.layers.${i}`;
    const even = batchNorm(g, convolution(g, x, `${at}.conv`, { ...size, bias: false }), `${at}.batch_norm`, {
      width: to,
    });
    x = i === count - 1 ? even : g.node('Tanh', [even]);
  }
  const added = g.node('Transpose', [g.node('Squeeze', [x, g.ints([0])])], { perm: [1, 0] });
  g.output('smoothed', g.node('Add', [given, added]), 'float32', ['frames', bands]);
}
