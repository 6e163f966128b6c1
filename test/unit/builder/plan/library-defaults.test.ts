import { classDefaults } from '../../../../builder/plan/config/library-defaults.js';
import { FAMILIES } from '../../../../runtime/models/registry.js';

/** What a schema says of a field, less what only wraps it. */
interface Field {
  inner: Schema;
  /** True where the file may leave the field out. */
  optional: boolean;
  usual: unknown;
}

interface Schema {
  _zod: {
    def: {
      type: string;
      innerType?: Schema;
      defaultValue?: unknown;
      shape?: Record<string, Schema>;
      in?: Schema;
      out?: Schema;
      left?: Schema;
      right?: Schema;
    };
  };
}

const WRAPPERS = new Set(['default', 'prefault', 'optional', 'nullable', 'readonly', 'nonoptional']);

function fieldOf(schema: Schema, found: Omit<Field, 'inner'> = { optional: false, usual: undefined }): Field {
  const { def } = schema._zod;
  if (def.type === 'pipe') return fieldOf(def.in!._zod.def.type === 'transform' ? def.out! : def.in!, found);
  if (!WRAPPERS.has(def.type)) return { inner: schema, ...found };
  const usual = found.usual ?? ('defaultValue' in def ? def.defaultValue : undefined);
  return fieldOf(def.innerType!, { optional: found.optional || !/nullable|readonly/.test(def.type), usual });
}

function shapeOf(schema: Schema): Record<string, Schema> {
  const { def } = fieldOf(schema).inner._zod;
  if (def.type === 'intersection') return { ...shapeOf(def.left!), ...shapeOf(def.right!) };
  return def.shape ?? {};
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Fields that the class derives from others where the file leaves them out: the schema does so, too. */
const DERIVED: readonly (readonly [what: RegExp, from: string])[] = [
  [/\.(?:num_key_value_heads|num_kv_heads|(?:en|de)coder_num_key_value_heads)$/, 'as many as heads'],
  [/\.layer_types$/, 'a pattern over the layers'],
  [/\.(?:head_dim|dim_head)$|\.mamba_d_head$/, 'width over heads; deepseek has the part that rotates'],
  [/^gemma3n_text\.(?:intermediate_size|activation_sparsity_pattern)$/, 'a list, one number for each layer'],
  [/\.partial_rotary_factor$/, 'the factor that the graph takes'],
  [/^falcon_h1\..*multipliers?$/, 'one, where the file says nothing'],
  [/^smollm3\.no_rope_layers$/, 'no_rope_layer_interval'],
  [
    /^(?:qwen3_moe|qwen2_moe|qwen2_vl|qwen2_5_vl|qwen2_5_omni_thinker)\.(?:text_config\.)?sliding_window$/,
    'null unless use_sliding_window',
  ],
  [/^gpt_neo\.attention_layers$/, 'attention_types'],
  [/\.(?:dense_act_fn|is_gated_act)$/, 'feed_forward_proj'],
  [/^switch_transformers\.(?:en|de)coder_sparse_step$/, 'layers and how many of them are sparse'],
  [/^modernbert-decoder\.sliding_window$/, 'half of local_attention'],
  [/^ernie4_5_moe\.moe_layer_end_index$/, 'the last layer'],
  [
    /^marian\.decoder_vocab_size$|\.num_decoder_layers$|^opt\.word_embed_proj_dim$|^falcon\.ffn_hidden_size$|\.output_hidden_size$|\.projection_size$|^roformer\.embedding_size$|\.codebook_dim$|\.mlp_dim$/,
    'another size',
  ],
  [
    /\.pooler_output_size$|\.scale_decoder_outputs$|^deberta-v2\.legacy$/,
    'another field, or nothing that is served',
  ],
  [/\.(?:depths|hidden_sizes)$/, 'the graph takes the same list'],
  [/^swinv2\.pretrained_window_sizes$/, 'zeros for all stages'],
  [
    /\.backbone(?:_config|_out_indices|$|_kwargs\.)|^depth_anything\.max_depth$/,
    'the class builds it where there is none, or the graph asks for it',
  ],
  [
    /^(?:glm4_moe_lite|exaone_moe|hy_v3|kimi_linear|mellum)\.mlp_layer_types$|^gemma4(?:_unified)?_text\.per_layer_config$|^(?:ministral3|mistral4|cwm)\.rope_scaling$|^hyperclovax\.attention_multiplier$|^minicpm3\.v_head_dim$|^granite(?:moe)?_swa\.layer_rope_theta$|^olmo_hybrid\.linear_(?:key|value|num)_|^llama4_text\.(?:moe|no_rope)_layers$|^nemotron_h\.layers_block_type$|^sapiens2\.num_key_value_heads_per_layer$/,
    'the family makes the same where the file leaves it out',
  ],
  [/^modernbert-decoder\.rope_local_base_freq$/, 'version 5 takes 10000, and files of version 4 name it'],
  [/^granite_speech_plus\.transformers_version$/, 'that of the first one that has the type'],
  [/^canary\.encoder_config\./, 'those of the part’s own class, but where there is no part'],
  [/\.id2label$/, 'num_labels, or shapes of weights'],
  [
    /^vision-encoder-decoder\.(?:en|de)coder$|\.(?:text|vision)_config$/,
    'parts, whose types have defaults of their own',
  ],
];

/** Off is off: False, None, nothing. A square and its edge, and an object in another order, are the same. */
function canonical(value: unknown): string {
  if (value === null || value === undefined || value === false) return 'off';
  if (Array.isArray(value) && value.length === 0) return 'off';
  if (Array.isArray(value)) {
    const parts = value.map(canonical);
    const first = Array.isArray(value[0]) && parts.length > 2 ? undefined : parts[0];
    return parts.length === 2 && first === parts[1] ? first! : `[${parts.join()}]`;
  }
  if (!isObject(value)) return String(value);
  const sorted = Object.keys(value).sort((a, b) => (a < b ? -1 : 1));
  return JSON.stringify(sorted.map((name) => [name, canonical(value[name])]));
}

function differences(schema: Schema, usual: Record<string, unknown>, path: string): string[] {
  return Object.entries(shapeOf(schema)).flatMap(([name, given]) => {
    const field = fieldOf(given);
    const place = `${path}.${name}`;
    const library = usual[name];
    if (isObject(library) && Object.keys(shapeOf(given)).length > 0)
      return differences(given, library, place);
    if (!field.optional || !(name in usual) || DERIVED.some(([what]) => what.test(place))) return [];
    return canonical(field.usual) === canonical(library)
      ? []
      : [`${place}: ${JSON.stringify(field.usual)}, in Python ${JSON.stringify(library)}`];
  });
}

describe('what a schema takes for a field that a file leaves out is what the library takes', () => {
  const types = FAMILIES.flatMap(({ modelTypes, config }) =>
    modelTypes.map((type) => [type, config] as const),
  );
  const known = types.filter(([type]) => classDefaults(type, 4) !== undefined);

  test('the table has every type, or nobody would know what of a file is not read', () => {
    const others = types.map(([type]) => type).filter((type) => classDefaults(type, 5) === undefined);
    // Of other libraries, or of makers; donut-swin's class goes by another name.
    expect(others.filter((type) => !/^(?:[A-Z]|timm_|donut-swin$|new$)/.test(type))).toEqual([]);
  });

  test.each(known)('%s', (type, config) => {
    expect(differences(config as unknown as Schema, classDefaults(type, 4)!, type)).toEqual([]);
  });
});
