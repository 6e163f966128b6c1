import type { MemoryTraits } from '../../../runtime/models/family.js';
import { modelTypeOf } from '../../../runtime/hub-config/json.js';
import { familyOf } from '../../../runtime/models/registry.js';
import { GraphError } from '../../../runtime/models/writer/errors.js';
import type { Json } from './config-fields.js';

/** Backbones of ONNX exports that no graph is written for. */
const EXPORTED_ONLY: Readonly<Record<string, MemoryTraits>> = {
  ...{
    bit: { convolutional: true },
    vovnet: { convolutional: true },
    rt_detr_resnet: { convolutional: true },
  },
};

/** What a configuration's family says of memory; nothing for a type that has none. */
export function traitsOf(config: Json): MemoryTraits {
  const name = modelTypeOf(config) ?? '';
  return familyOf(name)?.memory ?? EXPORTED_ONLY[name] ?? {};
}

/** The configuration as its family reads it; undefined where it can't, which who writes its graph says. */
export function parsedConfig(config: Json): unknown {
  try {
    return familyOf(modelTypeOf(config))?.config.safeParse(config).data;
  } catch (error) {
    // Of sizes of an inner network that fit nothing.
    if (error instanceof GraphError) return undefined;
    throw error;
  }
}
