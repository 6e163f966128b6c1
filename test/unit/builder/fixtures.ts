import type { ModelSpec } from '../../../runtime/core/spec.js';

/** A spec of one graph and two small files. */
export function sampleSpec(changes: Partial<ModelSpec> = {}): ModelSpec {
  return {
    specVersion: 1,
    id: 'Org/Model-Name',
    revision: 'main',
    commit: '0123456789abcdef0123456789abcdef01234567',
    task: 'text-classification',
    engine: 'transformers',
    profile: 'text',
    dtype: 'fp32',
    license: 'apache-2.0',
    graphs: { model: 'onnx/model.onnx' },
    files: [
      {
        path: 'config.json',
        size: 2,
        sha256: '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
      },
      {
        path: 'onnx/model.onnx',
        size: 3,
        sha256: '9834876dcfb05cb167a5c24953eba58c4ac89b1adf57f28f2f9d09af107ee8f0',
      },
    ],
    ...changes,
  };
}

export const IMAGE_OPTIONS = {
  namespace: 'slipway',
  device: 'cpu',
  platform: 'linux/amd64',
  baked: false,
  version: '1.2.3',
} as const;
