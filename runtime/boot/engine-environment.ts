/**
 * ONNX Runtime 1.30 uploads usage events and writes a device id to disk, also on Linux, unless this is set before it is
 * loaded. It can't be overridden.
 */
export const NO_TELEMETRY = { ORT_DISABLE_TELEMETRY: '1' } as const;

/**
 * CUDA's libraries multiply floats with ten bits of mantissa (TF32) where ONNX Runtime allows it, which it does: scores
 * then differ from Python's by a hundredth (measured on an H200). With 0 they are those of the CPU; an operator's own
 * value comes first.
 */
export const WHOLE_FLOATS = { NVIDIA_TF32_OVERRIDE: '0' } as const;

/**
 * Names such as KEY, HF_TOKEN, KEY_FILE, HUGGING_FACE_HUB_TOKEN or AWS_SECRET_ACCESS_KEY; the addresses of the hub and of
 * proxies may hold a password, headers for a collector a key.
 */
const SECRET = /(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD)(?:_|$)|^HF_ENDPOINT|^OTEL_EXPORTER_|_PROXY$/i;

/**
 * Environment of the engine process: everything except secrets.
 * @param arena true if sessions have their own memory arena. Then malloc is used for loading only, and a fixed mmap
 *   threshold makes it return the file's copy to the system (50 MB of a 90 MB model otherwise); without an arena the same
 *   setting would cost a page fault per tensor and run.
 */
export function engineEnvironment(env: NodeJS.ProcessEnv, arena: boolean): NodeJS.ProcessEnv {
  const visible = Object.fromEntries(Object.entries(env).filter(([name]) => !SECRET.test(name)));
  const malloc = arena ? { MALLOC_MMAP_THRESHOLD_: String(2 ** 17) } : {};
  return { ...malloc, ...WHOLE_FLOATS, ...visible, ...NO_TELEMETRY };
}
