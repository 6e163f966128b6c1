import type { EngineId } from './spec.js';

/** What an engine is, for those who must not ask for its name. Its loaders are in runtime/engines/index.ts. */
export interface EngineDefinition {
  /** A request is one run, one run for each token of a text, or one for each step of diffusion. */
  runs: 'once' | 'per-token' | 'per-step';
  /** Requests of texts share runs, so that many at a time cost little. */
  batchesTexts: boolean;
  /** It begins with one session, and adds others when requests meet. */
  grows: boolean;
  /** Its sessions have a memory arena of their own, and malloc is for loading only. */
  arena: boolean;
  /** Threads wait for each other at each operation: never more of them than cores that are wholly ours. */
  wholeCores: boolean;
  /** What computes: its packages, its devices, its form of weights. */
  runtime: 'onnx' | 'llama';
}

const ONNX = { wholeCores: false, runtime: 'onnx' } as const;

const ENGINES: Record<EngineId, EngineDefinition> = {
  transformers: { runs: 'once', batchesTexts: true, grows: true, arena: true, ...ONNX },
  generation: { runs: 'per-token', batchesTexts: false, grows: false, arena: false, ...ONNX },
  speech: { runs: 'once', batchesTexts: false, grows: false, arena: false, ...ONNX },
  llama: {
    runs: 'per-token',
    batchesTexts: false,
    grows: false,
    arena: false,
    wholeCores: true,
    runtime: 'llama',
  },
  diffusion: { runs: 'per-step', batchesTexts: false, grows: false, arena: false, ...ONNX },
};

export const engineOf = (id: EngineId): EngineDefinition => ENGINES[id];

/** The same for a name that nobody has checked yet. */
export const findEngine = (name: string): EngineDefinition | undefined =>
  Object.hasOwn(ENGINES, name) ? ENGINES[name as EngineId] : undefined;
