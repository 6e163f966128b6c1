import { aliasedField, baseDefaults, classDefaults } from '../../builder/plan/config/library-defaults.js';
import { inertReason } from '../../builder/plan/config/inert-fields.js';
import { isServerField } from '../../builder/plan/config/server-fields.js';
import { unreadFields } from '../../builder/plan/config/unread-fields.js';
import type { Head } from '../../runtime/core/handles/index.js';
import { familyOf } from '../../runtime/models/registry.js';
import { normalizeConfig } from '../../runtime/hub-config/normalize.js';
import { folderSource } from '../../runtime/store/folder.js';
import { rangesOf } from '../../runtime/store/source.js';
import { readWeightIndex, type WeightIndex } from '../../runtime/weights/index.js';
import { type ConfigFixture, configFixtures, graphsDigest } from './config-fixtures.js';

/** Fields that are read where another one asks for them, which no reference model does; each with what asks. */
const CONDITIONAL: readonly (readonly [what: RegExp, when: string])[] = [
  [/\.(?:text_config\.)?use_sliding_window$/, 'sliding_window'],
  [/downsample_in_bottleneck$/, 'bottlenecks with a stride'],
  [
    /^(?:d_fine|rt_detr|rt_detr_v2)\.(?:en|de)coder_in_channels$/,
    'shapes of weights decide, as they do in Python',
  ],
  [/\.vision_use_head$/, 'pooled vectors, which no chat reads'],
  [/^(?:codegen|gptj)\.n_positions$/, 'a length that the server keeps'],
  [/\.mrope_section\.?|\.rope_scaling\.(?:type|mrope_interleaved)$/, 'rope_type stands beside type'],
  [
    /^(?:apertus\.rope_scaling\.(?:high|low)_freq_factor|(?:gpt_oss|ministral3)\.rope_scaling\.(?:beta_fast|truncate))$/,
    'frequencies between the two ends, which narrow heads lack',
  ],
  [/^ministral3\.rope_scaling\.max_position_embeddings$/, 'nothing: the class keeps it and reads it nowhere'],
  [/^bamba\.rope_theta$/, 'heads with more than one frequency'],
  [
    /^(?:data2vec-audio|unispeech-sat)\.(?:adapter_|num_adapter_|output_hidden_size|classifier_proj|use_weighted)/,
    'adapters and classifiers',
  ],
  [/\.pooler_(?:act|output_size)$/, 'pooled vectors, which no head here reads'],
  [/^vision-encoder-decoder\.decoder\.encoder_/, 'an encoder that is not built'],
  [/^efficientnet\.in_channels$/, 'shapes of weights decide, as they do in Python'],
  [/^ernie4_5_moe\.moe_layer_/, 'more layers'],
  [
    /^exaone(?:4|_moe|4_5\.text_config)\.sliding_window_pattern$|^smollm3\.no_rope_layer_interval$|^afmoe\.global_attn_every_n_layers$|^exaone_moe\.first_k_dense_replace$|^granite(?:moe)?_swa\.rope_theta$|^llama4(?:_text|\.text_config)\.interleave_moe_layer_step$|^sapiens2\.num_(?:(?:first|last)_full_attention_layers|key_value_attention_heads)$/,
    'lists of layers that are left out',
  ],
  [/^llama4(?:_text|\.text_config)\.no_rope_layers$/, 'zeros: other numbers are one'],
  [/^falcon_h1\.mamba_expand$|^sam\.vision_config\.mlp_ratio$/, 'a width that is left out'],
  [/^(?:hunyuan_v1_dense|hunyuan_vl\.text_config)\.rope_scaling\.factor$/, 'other types than alpha'],
  [/^minicpm_ocr\.insert_layer_id$/, 'another mode than 4x'],
  [/^grounding-dino\.decoder_bbox_embed_share$/, 'the checkpoint holds what is shared, too'],
  [/^(?:d_fine\.backbone_config|hgnet_v2)\.depths$/, 'a list whose length counts'],
  [/^mask2former\.feature_strides$/, 'the last three of the list'],
  [/^mm-grounding-dino\.encoder_/, 'layers of the encoder'],
  [
    /^musicgen\.(?:audio_encoder\.(?:sampling_rate|target_bandwidths)|text_encoder\.num_decoder_layers)$/,
    'what the server reads',
  ],
  [
    /^sam(?:2|_hq)?\..*num_(?:point_embeddings|query_pool_stages)$/,
    'prompts of other kinds; stages that are there',
  ],
  [/^switch_transformers\.num_sparse_(?:en|de)coder_layers$/, 'steps that are left out'],
  [/^swiftformer\.downsamples$/, 'stages of one width'],
  [
    /^(?:(?:aya|cohere2)_vision\.text_config\.logit_scale|paligemma\.text_config\.final_logit_softcapping|granite_speech(?:_plus)?\.text_config\.logits_scaling)$/,
    'a head that the whole model replaces',
  ],
  [/^(?:mistral3|lighton_ocr)\.vision_config\.image_size$/, 'images keep their size'],
];

const isConditional = (type: string, name: string): boolean =>
  CONDITIONAL.some(([what]) => what.test(`${type}.${name}`));

type Config = Record<string, unknown>;

const isObject = (value: unknown): value is Config =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Other values of the same kind. */
function others(value: unknown): unknown[] {
  if (typeof value === 'boolean') return [!value];
  if (typeof value === 'number')
    return Number.isInteger(value) ? [value + 1, 2 * value, 100 * value] : [1.5 * value + 0.01, 100 * value];
  if (typeof value === 'string') return [value === 'relu' ? 'gelu' : 'relu'];
  if (!Array.isArray(value)) return [true, 1];
  const [first, ...rest] = value as unknown[];
  return value.length > 0 ? others(first).map((other) => [other, ...rest]) : [[1]];
}

type Path = readonly string[];

/** Every field, those of parts included. */
function pathsOf(config: Config, above: Path = []): Path[] {
  return Object.entries(config).flatMap(([name, value]) => {
    const path = [...above, name];
    const isPart = isObject(value) && Object.keys(value).length > 0 && name !== 'quantization_config';
    return isPart && !/label|_to_id$|_params$/.test(name) ? pathsOf(value, path) : [path];
  });
}

const at = (config: Config, path: Path): unknown =>
  path.reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), config);

function withField(config: Config, [name, ...rest]: Path, value: unknown): Config {
  return { ...config, [name!]: rest.length === 0 ? value : withField(config[name!] as Config, rest, value) };
}

/** Digest of the graphs of a head; undefined where it is refused. */
function written(config: Config, index: WeightIndex, head: Head): string | undefined {
  const found = graphsDigest(config, index, head);
  return typeof found === 'string' ? found : undefined;
}

/** The type of the part that a field belongs to, and whether its class has the field. */
function placeOf(config: Config, path: Path): { type: string; within: string; known: boolean } {
  const root = String(config['model_type']);
  let type = root;
  let usual: Config = { ...classDefaults(root, 4) };
  let part = config;
  for (const name of path.slice(0, -1)) {
    part = part[name] as Config;
    const given = isObject(usual[name]) ? usual[name] : {};
    const own =
      typeof part['model_type'] === 'string' ? part['model_type'] : String(given['model_type'] ?? type);
    usual = { ...(own !== type && own !== given['model_type'] ? classDefaults(own, 4) : given) };
    type = own;
  }
  const field = path.at(-1)!;
  const known = field in usual || field in baseDefaults() || aliasedField(type, field) !== undefined;
  return { type, within: [root, ...path.slice(0, -1), ''].join('.'), known };
}

/** True for a field that may change nothing: the server reads it, it is inert, or Python's class does not have it. */
function isExempt(config: Config, path: Path): boolean {
  // What stands inside of an object that is no part, such as rope_scaling, is judged as that field is.
  const last = path.findIndex((name) => !/_config$|^(?:\w+_)?(?:en|de)coder$/.test(name));
  const whole = path.slice(0, last + 1);
  const field = whole.at(-1)!;
  const place = placeOf(config, whole);
  return isServerField(field) || inertReason(field, place) !== undefined || !place.known;
}

interface Loaded {
  config: Config;
  index: WeightIndex;
  before: ReadonlyMap<Head, string | undefined>;
}

async function load({ dir, config: raw }: ConfigFixture, heads: readonly Head[]): Promise<Loaded> {
  const source = folderSource(dir);
  const index = await readWeightIndex(rangesOf(source, await source.info('closed/world')));
  const config = normalizeConfig(raw);
  return { config, index, before: new Map(heads.map((head) => [head, written(config, index, head)])) };
}

/** True where another value of the field is refused, or gives other graphs. */
function matters({ config, index, before }: Loaded, path: Path): boolean {
  const type = String(config['model_type']);
  return others(at(config, path)).some((value) => {
    const changed = withField(config, path, value);
    if (unreadFields(changed, type).some((found) => `${path.join('.')}.`.startsWith(`${found.path}.`)))
      return true;
    return [...before].some(([head, digest]) => written(changed, index, head) !== digest);
  });
}

const byType = new Map<string, ConfigFixture[]>();
for (const fixture of configFixtures()) {
  const type = fixture.config['model_type'] as string;
  byType.set(type, [...(byType.get(type) ?? []), fixture]);
}

describe('a field of config.json changes the graphs, or is refused, or is known to change nothing', () => {
  test.each([...byType])('%s', async (type, fixtures) => {
    const heads = Object.keys(familyOf(type)!.heads) as Head[];
    const proven = new Set<string>();
    const silent = new Set<string>();
    for (const fixture of fixtures) {
      const loaded = await load(fixture, heads);
      for (const path of pathsOf(loaded.config)) {
        const name = path.join('.');
        if (proven.has(name) || isExempt(loaded.config, path)) continue;
        if (matters(loaded, path)) proven.add(name);
        else silent.add(name);
      }
    }
    const left = [...silent].filter((name) => !proven.has(name) && !isConditional(type, name));
    expect(left).toEqual([]);
  });
});
