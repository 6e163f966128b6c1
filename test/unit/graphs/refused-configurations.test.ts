import { GraphError } from '../../../runtime/models/writer/errors.js';
import { writeGraphs } from '../../../runtime/models/write-graphs.js';
import { readNetwork, readNetworkFile } from './network.js';

/** Writes the graph of a small model whose configuration is changed. */
async function write(name: string, changes: Record<string, unknown>): Promise<unknown> {
  const { config, index, head } = await readNetwork(name);
  return writeGraphs({ config: { ...config, ...changes }, index, head });
}

const RESNET = readNetworkFile('detr', 'config.json')['backbone_config'] as Record<string, unknown>;

test.each([
  ['vit-states', { patch_size: 0 }, 'patch_size'],
  ['vit-states', { image_size: [32, 32, 32] }, 'image_size'],
  ['vit-states', { hidden_act: 'snake' }, 'snake'],
  ['vit-states', { image_size: 64 }, 'position_embeddings'],
  ['dinov2', { image_size: [32, 16] }, 'squares'],
  ['beit', { num_hidden_layers: 3 }, 'the weights lack'],
  ['clip', { projection_dim: 21 }, 'config.json makes it'],
  ['clip', { text_config: { hidden_size: -1 } }, 'text_config.hidden_size'],
  ['segformer', { depths: [1, 2] }, 'num_encoder_blocks'],
  ['segformer', { reshape_last_stage: false }, 'reshape_last_stage'],
  ['swin', { use_absolute_embeddings: true }, 'use_absolute_embeddings'],
  ['swin', { num_heads: [2, 4] }, 'num_heads'],
  ['detr', { position_embedding_type: 'learned' }, 'position_embedding_type'],
  ['detr', { d_model: 33 }, 'd_model'],
  ['detr', { backbone_config: { model_type: 'vit' } }, 'backbone_config'],
  ['detr', { backbone_config: { ...RESNET, out_features: [] } }, 'no stage of the backbone'],
  ['detr', { backbone_config: { ...RESNET, out_features: ['stage4'] } }, 'no such stage'],
  ['detr', { use_timm_backbone: true, backbone_kwargs: { out_indices: [] } }, 'out_indices'],
  ['deformable-detr', { two_stage: true }, 'with_box_refine'],
  ['grounding-dino', { two_stage: false }, 'two_stage'],
  ['d-fine', { eval_idx: 0 }, 'eval_idx'],
  ['d-fine', { decoder_n_points: [2] }, 'decoder_n_points'],
  ['mask2former', { hidden_dim: 64 }, 'hidden_dim'],
  ['maskformer', { backbone_config: { model_type: 'vit' } }, 'backbone_config'],
  ['dpt', { is_hybrid: true }, 'is_hybrid'],
  ['granite-moe-shared', { position_embedding_type: 'absolute' }, 'position_embedding_type'],
  ['dpt', { backbone_out_indices: [0] }, 'neck_hidden_sizes'],
  ['dpt', { head_in_index: 9 }, 'head_in_index'],
  ['depth-anything', { backbone_config: { model_type: 'dinov2', reshape_hidden_states: true } }, 'reshape'],
  ['wav2vec2-stable', { adapter_attn_dim: 16 }, 'the weights lack'],
  ['hubert-batch-norm', { add_adapter: true }, 'no adapters behind the encoder'],
  ['wav2vec2-weighted', { add_adapter: true }, 'classifiers with adapters'],
  ['wav2vec2', { conv_stride: [5, 4] }, 'conv_stride'],
  ['hubert', { num_attention_heads: 5 }, '5 heads'],
  ['vit-states', { num_attention_heads: 5 }, '5 heads'],
  ['bart', { decoder_attention_heads: 3 }, '3 heads'],
  ['whisper', { d_model: 48 }, 'config.json makes it'],
  ['vits-voices', { depth_separable_channels: 4 }, 'flows of other than two channels'],
  ['vits-voices', { speaker_embedding_size: 0 }, 'several voices need vectors'],
  ['vits-voices', { resblock_kernel_sizes: [4] }, 'kernels of even size'],
  ['vits-voices', { upsample_rates: [4, 2, 2] }, 'other lengths'],
  ['vits-voices', { upsample_kernel_sizes: [3, 5] }, 'does not cover'],
  ['musicgen', { audio_encoder: { model_type: 'dac' } }, 'codecs other than encodec'],
  ['wav2vec2-bert', { vocab_size: null }, 'vocab_size'],
  ['granite-moe', { num_local_experts: 0 }, 'without experts'],
  ['granite-hybrid', { layer_types: ['attention'] }, 'leaves out layers'],
  ['granite-hybrid', { layer_types: null }, 'the weights lack model.layers.0.mamba'],
  ['granite-mamba', { mamba_n_heads: 3 }, "don't make up"],
  ['lfm2', { layer_types: ['conv', 'conv', 'conv'] }, 'no layer attends'],
  ['lfm2', { layer_types: ['conv'] }, 'leaves out layers'],
  ['phimoe', { rope_scaling: { type: 'longrope', short_mscale: 1, long_mscale: 2 } }, 'long_mscale'],
  ['gemma3n', { num_kv_shared_layers: 3 }, 'num_kv_shared_layers'],
  ['gemma3n', { intermediate_size: [24] }, 'intermediate_size'],
  ['phimoe', { num_experts_per_tok: 3 }, 'num_experts_per_tok'],
  ['hunyuan-moe', { moe_topk: [2] }, 'moe_topk leave out layers'],
  ['deepseek-v2', { num_key_value_heads: 2 }, 'num_key_value_heads'],
  ['deepseek-v3', { n_group: 4 }, 'fewer than two experts'],
  ['mobilebert-mask', { key_query_shared_bottleneck: false }, 'attention over wide states'],
  ['longformer-mask', { attention_window: [4, 5] }, 'attention_window'],
  ['longformer-mask', { attention_window: [4] }, 'attention_window'],
  ['convbert-mask', { conv_kernel_size: 4 }, 'kernels of even size'],
  ['xlnet-states', { attn_type: 'uni' }, 'see only those before'],
])('%s with %j is refused by a word', async (name, changes, word) => {
  const refused = write(name, changes);
  await expect(refused).rejects.toThrow(GraphError);
  await expect(refused).rejects.toThrow(word);
});
