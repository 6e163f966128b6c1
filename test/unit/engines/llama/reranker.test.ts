import ort from 'onnxruntime-node';
import { openModel } from '../../../../runtime/engines/llama/open-model.js';
import { loadLlamaReranker } from '../../../../runtime/engines/llama/reranker.js';
import { openSession } from '../../../../runtime/engines/sessions/session.js';
import { writeGraphs } from '../../../../runtime/models/write-graphs.js';
import { drawnCheckpoint } from '../../../helpers/gguf/checkpoint.js';
import { ggufOfModel } from '../../../helpers/gguf/from-model.js';
import { ggufRequest } from './support.js';

const PAIRS = [
  ['tide', undefined],
  ['what is a tide?', 'water that rises'],
  ['what is a tide?', 'a town'],
] as const;

/** Logits of a row by the graph of ours, which is compared with transformers (test/parity/graph-models.test.ts). */
async function graphOf(name: string) {
  const { config, index, dir } = await drawnCheckpoint(name);
  const { graphs } = writeGraphs({ config, index, head: 'sequence-classification' });
  const [bytes] = Object.values(graphs);
  const session = await openSession({ bytes: bytes!, weightsIn: dir }, { device: 'cpu', threads: 1 });
  return async (ids: readonly number[]) => {
    const row = (values: readonly number[]) =>
      new ort.Tensor('int64', BigInt64Array.from(values, BigInt), [1, values.length]);
    const feeds: Record<string, ort.Tensor> = {
      input_ids: row(ids),
      attention_mask: row(ids.map(() => 1)),
      token_type_ids: row(ids.map(() => 0)),
    };
    const wanted = Object.fromEntries(session.inputNames.map((input) => [input, feeds[input]!]));
    return (await session.run(wanted))['logits']!.data as Float32Array;
  };
}

test('a BERT with its head in GGUF gives the scores of its PyTorch weights, alone and together', async () => {
  const { config, tensors } = await drawnCheckpoint('bert-classifier');
  const labels = ['far', 'near', 'same'];
  const metadata = {
    'bert.attention.causal': false,
    'bert.pooling_type': 4,
    'tokenizer.ggml.token_type_count': 2,
    'bert.classifier.output_labels': { type: 'list', of: 'string', value: labels },
  } as const;
  const file = ggufOfModel({ config, tensors, metadata, head: true });
  const request = ggufRequest(file, { task: 'text-classification' });
  const reranker = await loadLlamaReranker(request);
  const { tokenizer } = await openModel(request);
  const wanted = await graphOf('bert-classifier');
  const found = await Promise.all(PAIRS.map(([text, pair]) => reranker.classify(text, { pair })));
  for (const [i, [text, pair]] of PAIRS.entries()) {
    const { logits, labels: names } = found[i]!;
    expect(names).toEqual(labels);
    const expected = await wanted(tokenizer.encode(text, { pair }).ids);
    expect(logits).toHaveLength(expected.length);
    // GELU is looked up in a table of 16 bits.
    logits.forEach((value, at) => expect(Math.abs(value - expected[at]!)).toBeLessThan(5e-3));
  }
  expect(found[1]!.logits).not.toEqual(found[2]!.logits);
});
