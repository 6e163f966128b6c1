import * as z from 'zod';
import { sourceDecoderRoles } from '../bases/encoder-decoder/encoder-decoder-heads.js';
import { equalHeads, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { embedding, linear } from '../layers/linear.js';
import type { SourceDecoder } from '../layers/cross-decoder.js';
import type { GraphWriter } from '../writer/graph-writer.js';
import { layerEndings } from '../writer/weights.js';
import { cohereEncoder, parakeetAudio } from './parakeet.js';
import { heardStates, promptedDecoder, promptedDecoderFields } from './prompted-decoder.js';

const config = z
  .object({
    ...promptedDecoderFields,
    encoder_config: cohereEncoder.nullish().transform((given) => given ?? cohereEncoder.parse({})),
    head_dim: size.nullish(),
    tie_word_embeddings: z.boolean().default(false),
  })
  .refine(...equalHeads);
type Config = z.output<typeof config>;

const decoderOf = (c: Config): SourceDecoder =>
  promptedDecoder({
    ...c,
    positions: (g, positions) =>
      embedding(g, positions, 'model.decoder.pos_emb', {
        rows: c.max_position_embeddings,
        width: c.hidden_size,
      }),
  });

function writeEncoder(g: GraphWriter, c: Config): void {
  const size = { from: c.encoder_config.hidden_size, to: c.hidden_size };
  const states = linear(g, heardStates(g, c.encoder_config), 'model.decoder.proj', size);
  g.output('last_hidden_state', states, 'float32', ['rows', 'steps', c.hidden_size]);
}

const PROJECTIONS = ['q_proj', 'k_proj', 'v_proj', 'o_proj'].map((ours, i) => ({
  ...{ ours, encoder: ['linear_q', 'linear_k', 'linear_v', 'linear_out'][i]! },
  decoder: ['query_net', 'key_net', 'value_net', 'out_projection'][i]!,
}));

/** Files keep NeMo's names. */
const STORED = {
  '.self_attn.relative_k_proj.weight': '.self_attn.linear_pos.weight',
  '.self_attn.bias_u': '.self_attn.pos_bias_u',
  '.self_attn.bias_v': '.self_attn.pos_bias_v',
  '.conv.norm.running_mean': '.conv.batch_norm.running_mean',
  '.conv.norm.running_var': '.conv.batch_norm.running_var',
  ...layerEndings({
    '.conv.norm': '.conv.batch_norm',
    '.mlp.fc1': '.third_sub_layer.dense_in',
    '.mlp.fc2': '.third_sub_layer.dense_out',
    '.input_layernorm': '.layer_norm_1',
    '.post_attention_layernorm': '.layer_norm_2',
    '.final_layernorm': '.layer_norm_3',
  }),
  // Of the encoder with a dot, of the decoder without one: each name is looked for under both.
  ...layerEndings(
    Object.fromEntries(
      PROJECTIONS.flatMap(({ ours, encoder, decoder }) => [
        [`.self_attn.${ours}`, `.self_attn.${encoder}`],
        [`self_attn.${ours}`, `first_sub_layer.${decoder}`],
        [`.encoder_attn.${ours}`, `.second_sub_layer.${decoder}`],
      ]),
    ),
  ),
};

const DECODER = 'model.transf_decoder';
const PARTS = Object.fromEntries(
  Object.entries({
    'encoder.subsampling.layers.': 'encoder.pre_encode.conv.',
    'encoder.subsampling.linear.': 'encoder.pre_encode.out.',
    'model.decoder.pos_emb.weight': `${DECODER}._embedding.position_embedding.pos_enc`,
    'model.decoder.embed_tokens.': `${DECODER}._embedding.token_embedding.`,
    'model.decoder.embedding_layernorm.': `${DECODER}._embedding.layer_norm.`,
    'model.decoder.norm.': `${DECODER}._decoder.final_layer_norm.`,
    'model.decoder.layers.': `${DECODER}._decoder.layers.`,
    'model.decoder.proj.': 'model.encoder_decoder_proj.',
    'proj_out.': 'log_softmax.mlp.layer0.',
  }).map(([ours, stored]) => [ours, [ours, stored]]),
);

/** Parakeet's encoder before a decoder whose prompt names the language. modeling_cohere_asr.py */
export const cohereAsr = defineFamily({
  modelTypes: ['cohere_asr'],
  readers: { extractor: 'CohereAsr', audio: 'cohere-asr' },
  memory: { audio: parakeetAudio },
  limits: ['`params.language` has to be set, as Python’s processor wants it; texts have punctuation.'],
  usualTask: 'automatic-speech-recognition',
  config,
  prefixes: ['model.'],
  older: STORED,
  parts: PARTS,
  heads: { 'speech-seq2seq': { encoder_model: writeEncoder, ...sourceDecoderRoles(decoderOf) } },
});
