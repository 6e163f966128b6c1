import * as z from 'zod';
import { type Family, defineFamily } from '../family.js';
import { convolution } from '../layers/convolution.js';
import { linear } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { tokensFrom, tokensOf, withTokens } from '../layers/patch-embed.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { vitConfig, vitSizes } from '../bases/vision/vit-config.js';
import { vitLayers } from '../vision/vit.js';

const edge = z
  .int()
  .min(1)
  .max(2 ** 16);

const config = z
  .object({
    ...vitConfig,
    patch_size: edge.default(16),
    frequency_stride: edge.default(10),
    time_stride: edge.default(10),
    max_length: edge.default(1024),
    num_mel_bins: edge.default(128),
  })
  .refine((c) => c.patch_size <= Math.min(c.max_length, c.num_mel_bins), {
    ...{ message: 'is larger than a spectrogram', path: ['patch_size'] },
  })
  .transform(({ patch_size, ...c }) => ({
    ...c,
    patch: patch_size,
    patch_size: [patch_size, patch_size] as const,
  }));
type Config = z.output<typeof config>;

const base = 'audio_spectrogram_transformer.';

/** Patches that overlap, behind two learned tokens: float32 [rows, tokens, width]. */
function embed(g: GraphWriter, c: Config): Value {
  const at = (name: string) => `${base}embeddings.${name}`;
  const width = c.hidden_size;
  const frames = g.input('input_values', 'float32', ['rows', c.max_length, c.num_mel_bins]);
  const turned = g.node('Transpose', [g.node('Unsqueeze', [frames, g.ints([1])])], { perm: [0, 1, 3, 2] });
  const found = convolution(g, turned, at('patch_embeddings.projection'), {
    ...{ from: 1, to: width, kernel: c.patch_size, stride: [c.frequency_stride, c.time_stride] },
  });
  const count = (length: number, stride: number) => Math.floor((length - c.patch) / stride) + 1;
  const cells = count(c.num_mel_bins, c.frequency_stride) * count(c.max_length, c.time_stride);
  const learned = ['cls_token', 'distillation_token'].map((name) => g.weight(at(name), [1, 1, width]));
  const positions = g.weight(at('position_embeddings'), [1, cells + 2, width]);
  return g.node('Add', [withTokens(g, tokensOf(g, found), learned), positions]);
}

const heads: Family<Config>['heads'] = {
  'audio-classification': {
    model(g, c) {
      const { width, labels, epsilon } = vitSizes(c);
      const states = layerNorm(g, vitLayers(g, embed(g, c), c, base), `${base}layernorm`, { width, epsilon });
      const mean = g.node('ReduceMean', [tokensFrom(g, states, 0, 2), g.ints([1])], { keepdims: 0 });
      const read = layerNorm(g, mean, 'classifier.layernorm', { width, epsilon });
      const logits = linear(g, read, 'classifier.dense', { from: width, to: labels });
      g.output('logits', logits, 'float32', ['rows', labels]);
    },
  },
};

/** modeling_audio_spectrogram_transformer.py */
export const ast = defineFamily({
  modelTypes: ['audio-spectrogram-transformer'],
  readers: { extractor: 'AST' },
  config,
  prefixes: [base],
  heads,
});
