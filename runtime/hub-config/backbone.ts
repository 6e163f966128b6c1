type Json = Record<string, unknown>;

/** Detectors whose features come from a network of timm unless config.json says otherwise. */
const DETECTORS = new Set(['detr', 'table-transformer', 'conditional_detr', 'deformable_detr']);

/**
 * Version 4 names a network of timm by `use_timm_backbone`, `backbone` and `backbone_kwargs`; version 5 has
 * `backbone_config` alone, of the type timm_backbone.
 */
export function withBackboneName(config: Json): Json {
  const { model_type: type, backbone_config: own, use_timm_backbone: flag, ...rest } = config;
  if (
    typeof type !== 'string' ||
    !DETECTORS.has(type) ||
    flag !== undefined ||
    typeof own !== 'object' ||
    own === null
  )
    return config;
  const backbone = own as Json;
  if (backbone['model_type'] !== 'timm_backbone') return { ...config, use_timm_backbone: false };
  const { backbone: name, out_indices: stages, num_channels: channels, output_stride: stride } = backbone;
  return {
    ...rest,
    ...{ model_type: type, use_timm_backbone: true, backbone: name },
    backbone_kwargs: {
      ...(stages ? { out_indices: stages } : {}),
      ...(channels === undefined ? {} : { in_chans: channels }),
    },
    // A stride of its own means dilated convolutions.
    ...(stride === null || stride === undefined ? {} : { dilation: true }),
  };
}
