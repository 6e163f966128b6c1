import type { MemoryTraits } from '../../../runtime/models/family.js';
import { familyOf } from '../../../runtime/models/registry.js';
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
export function traitsOf({ model_type: type }: Json): MemoryTraits {
  const name = String(type);
  return familyOf(name)?.memory ?? EXPORTED_ONLY[name] ?? {};
}

/** The configuration as its family reads it; undefined where it can't. */
export function parsedConfig(config: Json): unknown {
  return familyOf(String(config['model_type']))?.config.safeParse(config).data;
}
