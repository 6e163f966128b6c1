import {
  checkEmbedderOutputs,
  hiddenStates,
  onlyVector,
  poolsItself,
  sentenceVector,
} from '../../../../../../runtime/engines/encoders/text/embedder/embedder-outputs.js';

const tensor = (value: number, ...dims: number[]) => ({
  type: 'float32',
  data: new Float32Array(dims.reduce((a, b) => a * b, 1)).fill(value),
  dims,
});
const scores = tensor(9, 1, 2, 5);
const vector = tensor(3, 1, 4);

test.each<[what: string, outputs: Parameters<typeof hiddenStates>[0], value: number]>([
  ['by name', { logits: scores, x: tensor(1, 1, 2, 3), last_hidden_state: tensor(2, 1, 2, 3) }, 2],
  [
    'as sentence-transformers names them',
    { sentence_embedding: vector, token_embeddings: tensor(2, 1, 2, 3) },
    2,
  ],
  [
    'of the last layer',
    {
      'hidden_states.9': tensor(1, 1, 2, 3),
      'hidden_states.10': tensor(2, 1, 2, 3),
      'hidden_states.2': scores,
    },
    2,
  ],
  ['whatever their name', { start_logits: vector, pooled: vector, output_1: tensor(2, 1, 2, 3) }, 2],
])('hidden states %s', (_what, outputs, value) => {
  const states = hiddenStates(outputs, 1);
  expect(states).toMatchObject({ tokens: 2, width: 3, from: 1 });
  expect(states.values[0]).toBe(value);
  expect(onlyVector(outputs)).toBeUndefined();
});

test('a pooled vector counts under its name, or where it is all that there is', () => {
  expect(sentenceVector({ last_hidden_state: tensor(1, 1, 2, 4), sentence_embedding: vector })![0]).toBe(3);
  expect(sentenceVector({ last_hidden_state: tensor(1, 1, 2, 4), pooler_output: vector })).toBeUndefined();
  expect(sentenceVector({ logits: tensor(1, 1, 4), embeddings: vector })![0]).toBe(3);
  expect(() => hiddenStates({ embeddings: vector }, 0)).toThrow('no hidden states to pool');
});

test('of several outputs without a known name none is taken for hidden states', () => {
  const outputs = { dense: vector, sparse: tensor(1, 1, 2, 1), words: tensor(2, 1, 2, 4) };
  expect(sentenceVector(outputs)![0]).toBe(3);
  expect(() => hiddenStates(outputs, 0)).toThrow(
    'the graph gives dense, sparse, words, no hidden states to pool',
  );
});

test.each<[ports: [name: string, rank: number][], itself: boolean]>([
  [[['embeddings', 2]], true],
  [
    [
      ['token_embeddings', 3],
      ['sentence_embedding', 2],
    ],
    true,
  ],
  [
    [
      ['last_hidden_state', 3],
      ['pooler_output', 2],
    ],
    false,
  ],
  [[['last_hidden_state', 0]], false],
])('a graph of %j pools itself: %j', (ports, itself) => {
  const outputs = ports.map(([name, rank]) => ({
    name,
    type: 'float32',
    shape: Array<string>(rank).fill('x'),
  }));
  expect(poolsItself(outputs)).toBe(itself);
});

test('scores are no hidden states', () => {
  const port = (name: string) => ({ name, type: 'float32', shape: [] });
  expect(() => checkEmbedderOutputs([port('logits')])).toThrow('the graph gives logits, no hidden states');
  expect(() => checkEmbedderOutputs([port('logits'), port('hidden_states.1')])).not.toThrow();
});
