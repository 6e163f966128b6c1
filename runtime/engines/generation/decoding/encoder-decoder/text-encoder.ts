import ort from 'onnxruntime-node';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import type { LoadRequest } from '../../../../core/load-request.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import { readersIn } from '../../../repository/named-readers.js';
import { checkFullAttention, fullAttentionLength } from '../../../repository/block-attention.js';
import { encoderPositions } from '../../../repository/sequence-lengths.js';
import { graphSource } from '../../../sessions/graph-source.js';
import { openSession } from '../../../sessions/session.js';
import { integers } from '../../../sessions/tensors.js';
import { checkGraphInputs } from './check-graphs.js';
import type { Encoder } from './encoder.js';

const INPUTS = ['input_ids', 'attention_mask'];

/** Opens the encoder of texts: a state for each token. */
export async function openTextEncoder(
  request: LoadRequest,
  config: Json,
): Promise<Encoder<readonly number[]>> {
  const path = graphSource(request, 'encoder_model');
  const session = await openSession(path, { ...request, arena: true });
  checkGraphInputs(session, (name) => INPUTS.includes(name));
  const minTokens = minTokensOf(config);
  const { positions } = readersIn(request);
  const longest = fullAttentionLength(config, positions);
  return {
    maxLength: Math.min(encoderPositions(config, positions), longest),
    lengthOf({ length }) {
      checkFullAttention(length, longest);
      return length;
    },
    encode: (tokens) => encode(session, tokens, minTokens),
  };
}

/** LongT5's exports with global attention fail on texts shorter than one block. */
function minTokensOf(config: Json): number {
  const global = config['encoder_attention_type'] === 'transient-global';
  return global ? (firstNumber(config, 'global_block_size') ?? 16) : 0;
}

/** @param minTokens shorter texts are padded with masked tokens */
async function encode(
  session: InferenceSession,
  tokens: readonly number[],
  minTokens: number,
): Promise<Tensor> {
  const { length } = tokens;
  const padding = new Array<number>(Math.max(0, minTokens - length)).fill(0);
  const dims = [1, length + padding.length];
  const values: Record<string, number[]> = {
    input_ids: [...tokens, ...padding],
    attention_mask: [...tokens.map(() => 1), ...padding],
  };
  const feeds = session.inputNames.map(
    (name) => [name, integers(session, name, values[name]!, dims)] as const,
  );
  const [output] = session.outputNames;
  const outputs = await session.run(Object.fromEntries(feeds), [output!]);
  return firstTokens(outputs[output!]!, length);
}

/** The states [1, tokens, width] of the first tokens. */
function firstTokens(states: Tensor, length: number): Tensor {
  const [, tokens, width] = states.dims as [number, number, number];
  if (tokens === length) return states;
  const data = (states.data as Float32Array).slice(0, length * width);
  return new ort.Tensor(states.type as 'float32', data, [1, length, width]);
}
