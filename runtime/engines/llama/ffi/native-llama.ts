import koffi from 'koffi';
import type { Llama, LlamaDevice, ModelOptions } from '../llama.js';
import { type Bound, bindLibrary, inBackground, type Pointer } from './bind.js';
import { DEVICE_KINDS } from './layouts.js';
import { createNativeModel } from './native-model.js';
import { refusal } from './refusal.js';

/**
 * The library of this machine.
 * @throws RunError `not_ready` where there is none, or another one than this code was made for
 */
export function openLlama(folder?: string): Llama {
  const bound = bindLibrary(folder);
  return {
    devices: () => devicesOf(bound).map(({ device }) => device),
    async openModel(path, options) {
      const { functions, log } = bound;
      log.takeErrors();
      const held: unknown[] = [];
      const params = {
        ...(functions.llama_model_default_params() as Record<string, unknown>),
        n_gpu_layers: options.gpuLayers,
        ...splitOf(bound, options, held),
      };
      const model = await inBackground<Pointer>(functions.llama_model_load_from_file, path, params);
      // Until here the call read them.
      held.length = 0;
      if (model === null) throw refusal("llama.cpp can't open the model", log.takeErrors());
      return createNativeModel(bound, model, options.gpuLayers > 0);
    },
  };
}

interface FoundDevice {
  device: LlamaDevice;
  address: Pointer;
}

function devicesOf({ functions }: Bound): FoundDevice[] {
  return Array.from({ length: Number(functions.ggml_backend_dev_count()) }, (_, i) => {
    const address = functions.ggml_backend_dev_get(i) as Pointer;
    const [free, total] = [[0], [0]] as [unknown[], unknown[]];
    functions.ggml_backend_dev_memory(address, free, total);
    const device = {
      name: functions.ggml_backend_dev_name(address) as string,
      description: functions.ggml_backend_dev_description(address) as string,
      kind: DEVICE_KINDS[functions.ggml_backend_dev_type(address) as number] ?? 'meta',
      free: Number(free[0]),
      total: Number(total[0]),
    };
    return { device, address };
  });
}

/** Tensors of experts by their names. */
const EXPERTS = String.raw`\.ffn_.*_exps`;

/** @param held what must live until the call has ended */
function splitOf(bound: Bound, options: ModelOptions, held: unknown[]): Record<string, unknown> {
  const { functions } = bound;
  const split: Record<string, unknown> = {};
  if (options.tensorSplit) {
    const shares = koffi.alloc('float', Number(functions.llama_max_devices()));
    koffi.encode(shares, koffi.array('float', options.tensorSplit.length), [...options.tensorSplit]);
    held.push(shares);
    split['tensor_split'] = shares;
  }
  const processor = devicesOf(bound).find(({ device }) => device.kind === 'cpu');
  if (options.expertsOnCpu && processor) {
    const text = koffi.alloc('char', EXPERTS.length + 1);
    koffi.encode(text, koffi.array('char', EXPERTS.length + 1), `${EXPERTS}\0`);
    // Pairs of a pattern and where what it fits goes, and two nothings.
    const pairs = koffi.alloc('void *', 4);
    const where = functions.ggml_backend_dev_buffer_type(processor.address) as Pointer;
    koffi.encode(pairs, koffi.array('void *', 4), [text, where, null, null]);
    held.push(text, pairs);
    split['tensor_buft_overrides'] = pairs;
  }
  return split;
}
