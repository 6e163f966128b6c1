import ort from 'onnxruntime-node';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import { integers } from '../../../sessions/tensors.js';

/** What the encoder made of a text, one row. */
export interface Encoded {
  /** [rows, tokens, width] */
  states: Tensor;
  /** Tokens of the text. */
  length: number;
}

/** LongT5's exports with global attention fail on texts shorter than one block. */
export function leastTokens(config: Json): number {
  const global = config['model_type'] === 'longt5' && config['encoder_attention_type'] === 'transient-global';
  return global ? (firstNumber(config, 'global_block_size') ?? 16) : 0;
}

/** Runs the encoder over one text. @param least shorter texts are filled up with tokens that nothing looks at */
export async function encode(
  encoder: InferenceSession,
  source: readonly number[],
  least: number,
): Promise<Encoded> {
  const { length } = source;
  const filling = new Array<number>(Math.max(0, least - length)).fill(0);
  const dims = [1, length + filling.length];
  const values: Record<string, number[]> = {
    input_ids: [...source, ...filling],
    attention_mask: [...source.map(() => 1), ...filling],
  };
  const feeds = encoder.inputNames.map(
    (name) => [name, integers(encoder, name, values[name]!, dims)] as const,
  );
  const [output] = encoder.outputNames;
  const outputs = await encoder.run(Object.fromEntries(feeds), [output!]);
  return { states: firstTokens(outputs[output!]!, length), length };
}

/** The states [1, tokens, width] of the first tokens. */
function firstTokens(states: Tensor, length: number): Tensor {
  const [, tokens, width] = states.dims as [number, number, number];
  if (tokens === length) return states;
  const data = (states.data as Float32Array).slice(0, length * width);
  return new ort.Tensor(states.type as 'float32', data, [1, length, width]);
}
