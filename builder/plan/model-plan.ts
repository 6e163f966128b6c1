import type { ModelInfo, ModelSpec } from '../../runtime/core/spec.js';
import type { ToolSupport } from '../../runtime/core/tools.js';
import type { ModelSource } from '../../runtime/store/source.js';
import type { WeightsRequest } from './choose-weights.js';
import type { ModelFacts } from './facts.js';
import type { GgufRepository } from './gguf/open-gguf.js';
import type { ToExport } from '../export/plan-export.js';
import type { PackedWeights } from './own-graphs.js';

export interface PlanRequest extends WeightsRequest {
  /** Where the base models of adapters come from; `source` if absent. */
  bases?: ModelSource | undefined;
  id: string;
  /** Branch, tag or commit; by default `main`. */
  revision?: string | undefined;
  /** Overrides the task of the repository. */
  task?: string | undefined;
  /** A file of GGUF, by its quantisation, its path or its name. */
  file?: string | undefined;
  /** An mmproj file beside it, likewise. */
  mmproj?: string | undefined;
  /** What computes a file of GGUF: llama.cpp, or a graph of ours. */
  engine?: 'llama' | 'own' | undefined;
}

export interface ModelPlan {
  info: ModelInfo;
  facts: ModelFacts;
  /** As written to model.json. */
  spec: ModelSpec;
  /** Reasons for task, engine and weight format, one sentence each. */
  reasons: string[];
  /** The model in all available weight formats, including the chosen one. */
  formats: ModelSpec[];
  /** Number of the network's parameters; undefined when not known. */
  parameters: number | undefined;
  /** How it writes calls of tools; undefined where it doesn't chat. */
  tools: ToolSupport | undefined;
  /** A file of the spec that is still to be made (builder/pack/), and therefore has no hash there. */
  packedWeights?: PackedWeights | undefined;
  /** A graph of the spec that is still to be exported (builder/export/): it has no `written` until then. */
  toExport?: ToExport | undefined;
  /** The files of a repository of GGUF, and the one that is served. */
  gguf?: Pick<GgufRepository, 'variants' | 'chosen' | 'reason' | 'tower'> | undefined;
}
