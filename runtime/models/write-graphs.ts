import type { Head } from '../core/handles/index.js';
import type { WeightIndex } from '../weights/index.js';
import { timmKind } from './timm/kinds.js';
import { GraphError } from './writer/errors.js';
import { createGraphWriter } from './writer/graph-writer.js';
import { familyOf } from './registry.js';
import { inPlace, type Storage } from './writer/storage.js';
import { createWeights } from './writer/weights.js';
import { withHeadOfFile } from '../hub-config/head-of-file.js';
import { normalizeConfig } from '../hub-config/normalize.js';

export interface GraphsRequest {
  /** config.json */
  config: Readonly<Record<string, unknown>>;
  index: WeightIndex;
  head: Head;
  /** The graphs to write, where others are written over other networks; all of them if absent. */
  roles?: readonly string[] | undefined;
  /** Where graphs read weights from; in the checkpoint's files if absent. */
  storage?: Storage | undefined;
}

export interface WrittenGraphs {
  /** Role -> ONNX model whose weights lie in the files of the index, relative to the repository. */
  graphs: Record<string, Uint8Array>;
  /** Tensors of the checkpoint that they read; others are heads for other tasks, and what training left. */
  used: string[];
}

/** What a configuration says of the kind of its network; undefined where it says nothing. */
export function kindOf(config: GraphsRequest['config']): string | undefined {
  const { model_type, _class_name } = config;
  const timm = timmKind(config);
  if (timm !== undefined) return timm;
  return [model_type, _class_name].find((name): name is string => typeof name === 'string');
}

/** True where a graph can be written for models of this type with this head. */
export function hasWriter(modelType: string | undefined, head: Head): boolean {
  return familyOf(modelType)?.heads[head] !== undefined;
}

/**
 * Writes the graphs of a model from its configuration and the positions of its tensors. Pure: the same input gives the same
 * bytes, and no weights are read.
 * @throws GraphError that says what does not fit
 */
export function writeGraphs(request: GraphsRequest): WrittenGraphs {
  const { index, head, storage = inPlace } = request;
  const config = withHeadOfFile(normalizeConfig(request.config), index);
  const type = kindOf(config);
  if (type === undefined) throw new GraphError('config.json: model_type is no text');
  const family = familyOf(type);
  const roles = family?.heads[head];
  if (!family || !roles) throw new GraphError(`no graph can be written for ${type} as ${head}`);
  const wanted = request.roles ?? Object.keys(roles);
  const parsed = family.config.safeParse(config);
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!;
    throw new GraphError(`config.json: ${path.join('.')}: ${message}`);
  }
  const weights = createWeights(index, family);
  const graphs = wanted.map((role) => {
    const write = Object.hasOwn(roles, role) ? roles[role] : undefined;
    if (!write) throw new GraphError(`no graph can be written for ${type} as ${role}`);
    const writer = createGraphWriter(weights, storage);
    write(writer, parsed.data);
    return [role, writer.finish()] as const;
  });
  return { graphs: Object.fromEntries(graphs), used: weights.used() };
}
