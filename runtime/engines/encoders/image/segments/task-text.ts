import { RunError } from '../../../../core/errors.js';
import type { LoadRequest } from '../../../../core/load-request.js';
import { readersIn } from '../../../repository/named-readers.js';
import { readModelConfig } from '../../../repository/model-config.js';
import type { Tensors } from '../../../sessions/tensors.js';
import { loadTokenizer } from '../../../tokenizers/tokenizer.js';

/** Tokens of the text, where config.json does not say. */
const TOKENS = 77;

/**
 * What a graph reads beside an image: nothing, but for OneFormer, which reads what it is to do as a text.
 * @returns inputs for a subtask: task_inputs [1, tokens], padded
 * @throws RunError `not_ready` for a tokenizer without padding, or that makes more tokens of the texts than fit
 */
export async function openTaskText(request: LoadRequest): Promise<(subtask?: string) => Tensors> {
  if (readersIn(request).segmenter !== 'task-text') return () => ({});
  const { dir } = request;
  const config = await readModelConfig(dir);
  const tokenizer = await loadTokenizer(dir);
  const padding = tokenizer.namedId('pad_token');
  const length = Number(config['task_seq_len'] ?? TOKENS);
  return (subtask = 'panoptic') => {
    const { ids } = tokenizer.encode(`the task is ${subtask}`);
    if (padding === undefined || ids.length > length)
      throw new RunError('not_ready', `the tokenizer gives no ${length} tokens for a text of the task`);
    const data = new BigInt64Array(length).fill(BigInt(padding));
    data.set(Array.from(ids, BigInt));
    return { task_inputs: { type: 'int64', data, dims: [1, length] } };
  };
}
