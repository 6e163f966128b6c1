/** Families of timm's networks by the names of their architectures. */
const FAMILIES: readonly (readonly [RegExp, string])[] = [
  [/^(?:se|eca)?resnex?t(?:rs|aa)?\d+[cdst]?(?:_\d+x\d+d)?(?:_pruned)?$/, 'timm_resnet'],
  [/^(?:wide_resnet\d+_2|ecaresnetlight|senet154|test_resnet)$/, 'timm_resnet'],
  [/^regnet[xy]_\d+(?:_tv)?$/, 'timm_regnet'],
  [/^densenet(?:121|161|169|201)$/, 'timm_densenet'],
  [/^(?:vit|deit3?)_(?:tiny|small|medium|base|large|huge)_patch\d+_\d+$/, 'timm_vit'],
  [
    /^vit_(?:xsmall|medium|betwixt|base|large|huge|gigantic|giant)_patch\d+_clip(?:_quickgelu)?_\d+$/,
    'timm_vit',
  ],
  [/^vit_(?:base|large|so400m|giantopt)_patch\d+_siglip(?:_gap)?_\d+$/, 'timm_vit'],
  [
    /^vit_(?:wee|little|medium|mediumd|betwixt|base|so150m2?|huge|giant)_patch16(?:_reg\d)?_(?:gap|map)_\d+$/,
    'timm_vit',
  ],
  [/^vit_huge_patch14_gap_224$|^eva_large_patch14_\d+$|^test_vit2?$/, 'timm_vit'],
  [/^vit_(?:small|base|large)_patch14_(?:reg4_)?dinov2$/, 'timm_vit'],
  [/^(?:tf_)?mobilenetv3_(?:large|small)_(?:minimal_)?(?:050|075|100)$/, 'timm_efficientnet'],
  [/^mobilenetv2_\d+d?$/, 'timm_efficientnet'],
  [/^(?:tf_)?efficientnet(?:v2)?_(?:b\d|s|m|l|xl|l2|e[sml]|lite\d)$/, 'timm_efficientnet'],
  [/^efficientnetv2_rw_[tsm]$|^tinynet_[a-e]$|^test_efficientnet$/, 'timm_efficientnet'],
  [/^(?:se)?mnasnet_(?:\d+|small)$|^spnasnet_100$|^fbnetc_100$/, 'timm_efficientnet'],
  [/^convnext(?:v2)?_(?:atto|femto|pico|nano|tiny|small|base|large|xlarge|huge)(?:_ols)?$/, 'timm_convnext'],
  [/^eva02_(?:tiny|small|base|large)_patch14_\d+$|^eva_giant_patch14_(?:clip_)?\d+$/, 'timm_eva'],
  [/^eva02_(?:base|large)_patch\d+_clip_\d+$/, 'timm_eva'],
  [/^vit_(?:small|small_plus|base|large|huge_plus)_patch16_dinov3(?:_qkvb)?$/, 'timm_eva'],
  [/^vit_(?:medium|mediumd|betwixt|base)_patch16_rope_reg\d_gap_\d+$/, 'timm_eva'],
  [/^beit(?:v2)?_(?:base|large)_patch16_\d+$/, 'timm_beit'],
  [/^swin_(?:(?:tiny|small|base|large)_patch4_window\d+|s3_(?:tiny|small|base))_\d+$/, 'timm_swin'],
];

/**
 * The kind of a network of timm by its config.json, which names an architecture in place of a `model_type` (transformers
 * adds `timm_wrapper`); undefined for others.
 */
export function timmKind(config: Readonly<Record<string, unknown>>): string | undefined {
  const { architecture, model_type: type, pretrained_cfg: settings } = config;
  if (typeof architecture !== 'string' || (type !== undefined && type !== 'timm_wrapper')) return undefined;
  if (typeof settings !== 'object' || settings === null) return undefined;
  return FAMILIES.find(([names]) => names.test(architecture))?.[1] ?? `timm ${architecture}`;
}
