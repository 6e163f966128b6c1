import { join } from 'node:path';
import { withScalesPerRow } from '../../../../../../runtime/engines/generation/decoding/graph/row-scales.js';
import { readGraph } from '../../../../../../runtime/onnx/graph.js';
import { writeField, writeNumber } from '../../../../../../runtime/onnx/protobuf.js';

const FIXTURES = join(import.meta.dirname, '../../../../../fixtures');
const quantized = readGraph(join(FIXTURES, 'graphs/llama_quantized.onnx'));

test('no quantiser of a graph is left with one scale for all rows', () => {
  expect(quantized.nodes.some(({ op }) => op === 'DynamicQuantizeLinear')).toBe(true);
  const changed = withScalesPerRow(quantized);
  expect(changed.nodes.some(({ op }) => op === 'DynamicQuantizeLinear')).toBe(false);
});

test('a graph that quantises nothing stays as it is', () => {
  const plain = readGraph(join(FIXTURES, 'zoo/text-generation/llama/repo/onnx/model.onnx'));
  expect(withScalesPerRow(plain)).toBe(plain);
});

test('so does one of a version that knows one scale for a tensor only', () => {
  const old = { ...quantized, modelFields: [writeField(8, writeNumber(2, 12))] };
  expect(withScalesPerRow(old)).toBe(old);
});
