import type { EngineDefinition } from '../core/engines.js';
import { hasGpuLibrary } from '../engines/llama/ffi/library-folder.js';
import {
  checkDevice,
  type DeviceSetting,
  type GpuSupport,
  onnxGpuSupport,
} from '../engines/sessions/device.js';

const NO_LIBRARY = 'llama.cpp has no library for GPUs here (its packages for CUDA and Vulkan have one)';

/**
 * What an engine could compute with on a GPU of this machine.
 * @throws DeviceError where a GPU is asked for and that is not installed
 */
export function checkedGpuSupport(asked: DeviceSetting, runtime: EngineDefinition['runtime']): GpuSupport {
  const support =
    runtime === 'llama' ? { installed: hasGpuLibrary(), missing: NO_LIBRARY } : onnxGpuSupport();
  checkDevice(asked, support);
  return support;
}
