import { networkSizes } from '../../../../core/network.js';
import { RunError } from '../../../../core/errors.js';
import type { LoadRequest } from '../../../../core/load-request.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import { readModelConfig } from '../../../repository/model-config.js';
import { graphSource } from '../../../sessions/graph-source.js';
import { requireOutputs } from '../../../sessions/require-outputs.js';
import type { Port, Tensors } from '../../../sessions/tensors.js';
import { openSessionPoolOnDemand } from '../../../sessions/growing-pool.js';
import type { PooledSession, SessionPool } from '../../../sessions/session-pool.js';
import { type Encoding, loadTokenizer, type TextTokenizer } from '../../../tokenizers/tokenizer.js';
import { openPatientTokenizer } from '../../../long-texts/thread-aside.js';
import type { PatientTokenizer } from '../../../tokenizers/patient-tokenizer.js';
import { findBatchLimits, findLimits } from '../../../batching/batch-limits.js';
import { decoderIdsOf } from './decoder-ids.js';
import { checkLength, encoderMemory } from './encoder-memory.js';
import { checkFullAttention, fullAttentionLength } from '../../../repository/block-attention.js';
import { readersIn } from '../../../repository/named-readers.js';
import { type InputLimits, readInputLimits } from './input-limits.js';
import { createRowBatcher } from '../../../batching/row-batcher.js';
import { fixedWidth, withCacheShapes } from './graph-ports.js';
import { checkInputs, createFeeds, type EncoderRow, readsBags, splitRows } from './row-tensors.js';

export type Outputs = Tensors;

export interface TextEncoder {
  /**
   * Computes one row, in a run with other rows where that changes no answer. Outputs keep the batch axis of 1 and have
   * no padding. Rejects with the signal's reason when that aborts before the row's turn.
   */
  forward(row: EncoderRow, signal?: AbortSignal): Promise<Outputs>;
  readonly outputs: readonly Port[];
  /** The graph reads bags of tokens, without special tokens. */
  readonly readsBags: boolean;
}

export interface TextModel {
  /** config.json */
  config: Json;
  tokenizer: PatientTokenizer;
  encoder: TextEncoder;
  limits: InputLimits;
}

/**
 * Opens what every head over an encoder that reads text needs; the graph is `model`.
 * @param needed outputs that the head reads
 */
export async function openTextModel(request: LoadRequest, ...needed: string[]): Promise<TextModel> {
  const [config, tokenizer, opened] = await Promise.all([
    readModelConfig(request.dir),
    loadTokenizer(request.dir),
    openSessionPoolOnDemand(request, graphSource(request, 'model')),
  ]);
  const limits = readInputLimits(tokenizer, {
    ...{ config, kind: readersIn(request).positions, width: fixedWidth(opened.inputs) },
  });
  const encoder = await createEncoder(opened, { config, tokenizer, limits }, request);
  requireOutputs(encoder.outputs, needed);
  return { config, tokenizer: openPatientTokenizer(request, tokenizer), encoder, limits };
}

interface EncoderSettings extends Omit<TextModel, 'encoder' | 'tokenizer'> {
  tokenizer: TextTokenizer;
}

async function createEncoder(
  { inputs: ports, outputs, sessions, defer }: SessionPool,
  { config, tokenizer, limits: { positions } }: EncoderSettings,
  request: LoadRequest,
): Promise<TextEncoder> {
  const { spec, memory: room } = request;
  const longest = fullAttentionLength(config, readersIn(request).positions);
  checkInputs(ports);
  const inputs = withCacheShapes(ports, config);
  const padId = firstNumber(config, 'pad_token_id') ?? 0;
  const decoderIds =
    inputs.some(({ name }) => name === 'decoder_input_ids') &&
    decoderIdsOf(config, spec.readers?.decoderInput);
  const compute = async (rows: Encoding[], run: PooledSession['run']) => {
    const read = decoderIds ? rows.map((row) => ({ ...row, decoderIds: decoderIds(row.ids) })) : rows;
    return splitRows(await run(createFeeds(inputs, read, padId)), rows, { inputs, outputs });
  };
  const memory = encoderMemory(sessions, { sizes: networkSizes(spec), positions, memory: room });
  const find = async () => {
    const found = await findBatchLimits({
      compute: (rows) => compute(rows, sessions[0]!.run),
      sample: sampler(tokenizer, Math.min(positions, memory.longest)),
    });
    return { ...found, tokens: Math.min(found.tokens, memory.tokens) };
  };
  const limits = await findLimits(find, defer);
  const lengthOf = (row: Encoding) => row.ids.length;
  const needsFirst = (row: Encoding) => row.ids.length > memory.longestAnywhere;
  const groupOf = endCounter(config, tokenizer);
  const batcher = createRowBatcher({ sessions, limits, lengthOf, groupOf, needsFirst, compute });
  return {
    outputs,
    readsBags: readsBags(inputs),
    async forward(row, signal) {
      checkFullAttention(row.ids.length, longest);
      checkLength(memory, row.ids.length);
      if (row.ids.length > 0) return batcher.forward(row, signal);
      throw new RunError('invalid_input', 'text: holds nothing that the tokenizer knows');
    },
  };
}

/**
 * Encoder-decoder classifiers (BART, T5) read the state at the last end token and find it by counting those of all
 * rows: rows that hold different numbers of them would get each other's.
 */
function endCounter(config: Json, tokenizer: TextTokenizer): ((row: Encoding) => number) | undefined {
  if (config['is_encoder_decoder'] !== true) return undefined;
  const end = firstNumber(config, 'eos_token_id') ?? tokenizer.namedId('eos_token');
  return ({ ids }) => ids.filter((id) => id === end).length;
}

const SAMPLES = ['The quick brown fox jumps over the lazy dog. ', 'Ships in the harbour wait for the tide; '];

/** Makes rows of (at most) a given length out of different texts. */
function sampler(tokenizer: TextTokenizer, longest: number): (length: number, seed: number) => Encoding {
  return (length, seed) =>
    tokenizer.encode(SAMPLES[seed % SAMPLES.length]!.repeat(length), {
      maxLength: Math.min(length, longest),
    });
}
