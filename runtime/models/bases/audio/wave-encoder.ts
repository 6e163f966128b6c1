import type { Family } from '../../family.js';
import { linear } from '../../layers/linear.js';
import { layerNorm } from '../../layers/norm.js';
import { preNormLayer } from '../../layers/pre-norm-layer.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { bertLayer } from '../encoder/bert-layer.js';
import { GraphError } from '../../writer/errors.js';
import { adaptedWidth, refuseAdapters, waveAdapter } from './adapters.js';
import { type WaveConfig, waveSizes } from './wave-config.js';
import { audioLabels } from './audio-heads.js';
import { waveProjection, wavePositions, waveSteps } from './wave-features.js';

/** How a family differs from wav2vec 2.0. */
export interface WaveOptions {
  /** What names of the base model's tensors begin with. */
  base: string;
  /** False where steps are projected as they are. */
  projectionNorm?: boolean;
  /** What the convolution of positions reads, of float32 [rows, width, steps]. */
  beforePositions?: (g: GraphWriter, channels: Value) => Value;
  /** In place of that convolution: what is added to float32 [rows, steps, width]. */
  positions?: (g: GraphWriter, steps: Value) => Value;
  /** Whether the network knows adapters behind the encoder. */
  adapters?: boolean;
  /** Added to the scores of a layer, for the states that it reads. */
  bias?: (g: GraphWriter, read: Value, layer: number) => Value;
}

const NAMES = {
  attentionNorm: 'layer_norm',
  query: 'attention.q_proj',
  key: 'attention.k_proj',
  value: 'attention.v_proj',
  output: 'attention.out_proj',
  norm: 'final_layer_norm',
  wide: 'feed_forward.intermediate_dense',
  narrow: 'feed_forward.output_dense',
};

/** What the encoder reads, and what each layer gives; norms before the layers or behind the last included. */
export function waveStates(g: GraphWriter, c: WaveConfig, options: WaveOptions): Value[] {
  const { base, projectionNorm: norm = true, beforePositions, bias } = options;
  const projected = waveProjection(g, waveSteps(g, c, base), c, { base, norm });
  const read = (channels: Value) => beforePositions?.(g, channels) ?? channels;
  const positions = options.positions?.(g, projected) ?? wavePositions(g, projected, c, { base, read });
  const sum = g.node('Add', [projected, positions]);
  const outer = (x: Value) => layerNorm(g, x, `${base}encoder.layer_norm`, waveSizes(c));
  const stable = c.do_stable_layer_norm;
  const states = [stable ? sum : outer(sum)];
  for (let i = 0; i < c.num_hidden_layers; i++) {
    const x = states.at(-1)!;
    const at = (part: string) => `${base}encoder.layers.${i}.${part}`;
    const sizes = waveSizes(c);
    const added = bias && ((read: Value) => bias(g, read, i));
    states.push(
      stable
        ? adapted(g, preNormLayer(g, x, { ...sizes, names: NAMES, at, bias: added }), at, c)
        : bertLayer(g, x, { ...sizes, names: NAMES, at, padding: '', bias: added?.(x) }),
    );
  }
  return stable ? [...states.slice(0, -1), outer(states.at(-1)!)] : states;
}

/** x and what the adapter of the language makes of it, where there is one. */
function adapted(g: GraphWriter, x: Value, at: (part: string) => string, c: WaveConfig): Value {
  const narrow = c.adapter_attn_dim;
  if (narrow === null) return x;
  const { width } = waveSizes(c);
  const read = layerNorm(g, x, at('adapter_layer.norm'), { width, epsilon: 1e-5 });
  const found = g.node('Relu', [linear(g, read, at('adapter_layer.linear_1'), { from: width, to: narrow })]);
  return g.node('Add', [x, linear(g, found, at('adapter_layer.linear_2'), { from: narrow, to: width })]);
}

/** What letters are read off. @throws GraphError for adapters of a network that knows none */
function scoredStates(g: GraphWriter, c: WaveConfig, options: WaveOptions): Value {
  const last = waveStates(g, c, options).at(-1)!;
  if (!c.add_adapter) return last;
  if (options.adapters) return waveAdapter(g, last, c, options.base);
  throw new GraphError('config.json: this network knows no adapters behind the encoder (add_adapter)');
}

/** What the tasks want of a network over samples. */
export function waveHeads<C extends WaveConfig>(optionsOf: (config: C) => WaveOptions): Family<C>['heads'] {
  return {
    ctc: {
      model: (g, c) => {
        const last = scoredStates(g, c, optionsOf(c));
        const logits = linear(g, last, 'lm_head', { from: adaptedWidth(c), to: c.vocab_size });
        g.output('logits', logits, 'float32', ['rows', 'steps', c.vocab_size]);
      },
    },
    'audio-classification': {
      model: (g, c) => {
        refuseAdapters(c);
        audioLabels(g, waveStates(g, c, optionsOf(c)), {
          ...{ ...waveSizes(c), projected: c.classifier_proj_size, weighted: c.use_weighted_layer_sum },
        });
      },
    },
  };
}
