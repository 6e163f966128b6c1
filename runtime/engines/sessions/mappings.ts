import { readFileSync } from 'node:fs';
import { RunError } from '../../core/errors.js';
import { externalTensors } from '../../onnx/named-files.js';
import { bytesReader } from '../../onnx/protobuf.js';

/** Of libraries, heaps and stacks. */
const OTHERS = 2000;
/** Bytes of a graph that name a tensor in a file, at least. */
const LEAST_BYTES = 64;

/** Mappings that a process of this machine may have; Infinity where it sets no limit. */
export function mostMappings(): number {
  try {
    return Number(readFileSync('/proc/sys/vm/max_map_count', 'utf8'));
  } catch {
    // Only Linux has it.
    return Infinity;
  }
}

/**
 * ONNX Runtime maps each tensor by itself, and says no more than `std::bad_alloc`, minutes later, where the kernel refuses one.
 * @param graph whose weights lie in files
 * @throws RunError not_ready for more tensors than this machine has mappings for
 */
export function requireMappings(graph: Uint8Array, limit = mostMappings()): void {
  if (graph.length < limit * LEAST_BYTES) return;
  const tensors = externalTensors(bytesReader(graph));
  if (tensors + OTHERS <= limit) return;
  throw new RunError(
    'not_ready',
    `the model has ${tensors} tensors, and this machine lets a process map ${limit} parts of files ` +
      `(vm.max_map_count); allow more on the host: sysctl -w vm.max_map_count=${2 * (tensors + OTHERS)}`,
  );
}
