import { TestEnvironment } from 'jest-environment-node';

/** onnxruntime-node checks typed arrays by identity, so the sandbox has to share the outer realm's classes. */
const SHARED = [
  ...['Float32Array', 'Float64Array', 'Float16Array', 'Int8Array', 'Uint8Array', 'Uint8ClampedArray'],
  ...['Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array', 'BigInt64Array', 'BigUint64Array'],
  ...['ArrayBuffer', 'SharedArrayBuffer'],
];

// ONNX Runtime 1.30 uploads usage events otherwise; tests speak to nobody but loopback.
process.env.ORT_DISABLE_TELEMETRY = '1';

export default class SharedRealmEnvironment extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    for (const name of SHARED) if (name in globalThis) this.global[name] = globalThis[name];
  }
}
