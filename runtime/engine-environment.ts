/**
 * ONNX Runtime 1.30 uploads usage events from Linux, too, and writes a device id to disk, unless this is set before it
 * is loaded. Nothing of ours phones home, so no value from outside can switch it on.
 */
export const NO_TELEMETRY = { ORT_DISABLE_TELEMETRY: '1' } as const;

/**
 * Names like KEY, HF_TOKEN, KEY_FILE, HUGGING_FACE_HUB_TOKEN or AWS_SECRET_ACCESS_KEY, whoever set them; the hub's address
 * may hold a password.
 */
const SECRET = /(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD)(?:_|$)|^HF_ENDPOINT/i;

/**
 * Environment of the engine process: everything but what a model has no business to see.
 * @param arena the engine's sessions keep their own memory. Then malloc only serves the loading, and a fixed mmap
 *   threshold makes it give the file's copy back to the system (50 MB of a 90 MB model otherwise, as it happens);
 *   without an arena the same setting would cost a page fault per tensor and run.
 */
export function engineEnvironment(env: NodeJS.ProcessEnv, arena: boolean): NodeJS.ProcessEnv {
  const visible = Object.fromEntries(Object.entries(env).filter(([name]) => !SECRET.test(name)));
  const malloc = arena ? { MALLOC_MMAP_THRESHOLD_: String(2 ** 17) } : {};
  return { ...malloc, ...visible, ...NO_TELEMETRY };
}
