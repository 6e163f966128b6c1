import { join } from 'node:path';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { RunError } from '../../core/errors.js';
import type { LoadRequest } from '../handle.js';
import { firstNumber, type Json } from '../model-folder.js';
import { integers, openSession } from '../session.js';
import type { Encoded, TextTokenizer } from '../text/tokenizer.js';

export type Outputs = Record<string, Tensor>;

export interface TextEncoder {
  /** Runs one row, unless `signal` has aborted; outputs keep the batch axis of 1. */
  forward(row: Encoded, signal?: AbortSignal): Promise<Outputs>;
  readonly outputNames: readonly string[];
}

/** Inputs that can be made from tokens alone. */
const INPUTS: Record<string, (row: Encoded) => number[]> = {
  input_ids: (row) => row.ids,
  attention_mask: (row) => row.ids.map(() => 1),
  token_type_ids: (row) => row.typeIds,
  position_ids: (row) => row.ids.map((_, i) => i),
};

/** Opens the graph `model` of an encoder that reads text. */
export async function openTextEncoder(request: LoadRequest): Promise<TextEncoder> {
  const path = join(request.dir, request.spec.graphs['model']!);
  const session = await openSession(path, { ...request, arena: true });
  const unknown = session.inputNames.filter((name) => !(name in INPUTS));
  if (unknown.length > 0) {
    throw new RunError('not_ready', `the graph wants inputs that a text can't give: ${unknown.join(', ')}`);
  }
  return {
    outputNames: session.outputNames,
    async forward(row, signal) {
      signal?.throwIfAborted();
      return session.run(feedsOf(session, row));
    },
  };
}

function feedsOf(session: InferenceSession, row: Encoded): Record<string, Tensor> {
  if (row.ids.length === 0)
    throw new RunError('invalid_input', 'text: holds nothing that the tokenizer knows');
  return Object.fromEntries(
    session.inputNames.map((name) => [
      name,
      integers(session, name, INPUTS[name]!(row), [1, row.ids.length]),
    ]),
  );
}

/** @throws RunError `not_ready` when the graph lacks one of these outputs */
export function requireOutputs({ outputNames }: TextEncoder, ...names: string[]): void {
  const missing = names.filter((name) => !outputNames.includes(name));
  if (missing.length > 0) {
    throw new RunError('not_ready', `the graph gives ${outputNames.join(', ')}, not ${missing.join(', ')}`);
  }
}

/** Families whose position table starts after the padding index, so two of its rows are never used. */
const OFFSET_POSITIONS =
  /^(roberta|xlm-roberta|xlm-roberta-xl|camembert|longformer|mpnet|xmod|data2vec-text|ibert)$/;

/** Families with relative positions: their position number is no limit. */
const UNLIMITED_POSITIONS = /^(t5|mt5|umt5|xlnet|funnel)$/;

/** Longest input of a model in tokens: the tokenizer's limit, cut to the position table. */
export function longestInput(tokenizer: TextTokenizer, config: Json): number | undefined {
  return tighter(tokenizer.modelMaxLength, positionsOf(config));
}

/** How many tokens have positions; undefined where there are as many as one likes. */
export function positionsOf(config: Json): number | undefined {
  const type = String(config['model_type'] ?? '');
  const relative = /^deberta(-v2)?$/.test(type) && config['position_biased_input'] === false;
  if (relative || UNLIMITED_POSITIONS.test(type)) return undefined;
  const table = firstNumber(config, 'max_position_embeddings', 'n_positions', 'max_sequence_length');
  return table !== undefined && OFFSET_POSITIONS.test(type) ? table - 2 : table;
}

/** The smaller of two limits, either of which may be missing. */
export function tighter(limit: number | undefined, asked: number | undefined): number | undefined {
  return asked === undefined ? limit : Math.min(asked, limit ?? Infinity);
}
