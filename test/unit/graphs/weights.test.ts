import { GraphError } from '../../../runtime/models/writer/errors.js';
import { createWeights } from '../../../runtime/models/writer/weights.js';
import type { StoredTensor } from '../../../runtime/weights/index.js';

const indexOf = (tensors: Record<string, Partial<StoredTensor>>) =>
  new Map(
    Object.entries(tensors).map(([name, given]): [string, StoredTensor] => [
      name,
      { file: 'model.safetensors', offset: 0, length: 8, type: 'F32', shape: [2], ...given },
    ]),
  );

test('a prefix may stand before a name in the checkpoint or not, whichever way it is asked for', () => {
  const weights = createWeights(indexOf({ 'bert.with.weight': {}, 'without.weight': {} }), {
    prefixes: ['bert.', 'model.'],
  });
  expect(weights.take('bert.with.weight', [2]).name).toBe('bert.with.weight');
  expect(weights.take('with.weight', [2]).name).toBe('bert.with.weight');
  expect(weights.take('bert.without.weight', [2]).name).toBe('without.weight');
  expect(weights.take('model.without.weight', [2]).name).toBe('without.weight');
  expect(weights.has('other.weight')).toBe(false);
});

test('the name that was asked for counts before others', () => {
  const index = indexOf({ 'a.weight': { offset: 1 }, 'bert.a.weight': { offset: 2 } });
  const weights = createWeights(index, { prefixes: ['bert.'] });
  expect([weights.take('a.weight', [2]).offset, weights.take('bert.a.weight', [2]).offset]).toEqual([1, 2]);
});

test('older endings are found, with and without a prefix, and never in the middle of a name', () => {
  const older = { 'LayerNorm.weight': 'LayerNorm.gamma' };
  const weights = createWeights(indexOf({ 'x.LayerNorm.gamma': {}, 'LayerNorm.gamma.y': {} }), {
    ...{ prefixes: ['bert.'], older },
  });
  expect(weights.take('x.LayerNorm.weight', [2]).name).toBe('x.LayerNorm.gamma');
  expect(weights.take('bert.x.LayerNorm.weight', [2]).name).toBe('x.LayerNorm.gamma');
  expect(weights.has('LayerNorm.weight.y')).toBe(false);
});

test('what was taken is noted by its name in the checkpoint, once; a look is no taking', () => {
  const weights = createWeights(indexOf({ 'bert.a': {}, b: {} }), { prefixes: ['bert.'] });
  weights.take('a', [2]);
  weights.take('bert.a', [2]);
  expect([weights.has('b'), weights.shapeOf('b'), weights.shapeOf('c')]).toEqual([true, [2], undefined]);
  expect(weights.used()).toEqual(['bert.a']);
});

test.each([
  ['missing', 'c', [2, 3], 'the weights lack c [2, 3]'],
  ['of another size', 'a', [3], 'a is [2], but config.json makes it [3]'],
  ['of more axes', 'a', [2, 1], 'a is [2], but config.json makes it [2, 1]'],
  ['of integers', 'b', [2], 'b is stored as I64'],
  ['of what every object has', 'd', [2], 'd is stored as constructor'],
])('a tensor that is %s is named', (_what, name, shape, message) => {
  const weights = createWeights(indexOf({ a: {}, b: { type: 'I64' }, d: { type: 'constructor' } }));
  expect(() => weights.take(name, shape)).toThrow(new GraphError(message));
  expect(weights.used()).toEqual([]);
});

test('messages are short and printable, whatever a checkpoint holds', () => {
  const shape = Array<number>(100_000).fill(1);
  const weights = createWeights(indexOf({ a: { shape }, b: { type: '\x1b[2J' } }));
  const messageOf = (run: () => unknown) => {
    try {
      run();
    } catch (error) {
      return (error as GraphError).message;
    }
    return undefined;
  };
  expect(messageOf(() => weights.take('a', [2]))).toHaveLength(401);
  expect(messageOf(() => weights.take('b', [2]))).toBe('b is stored as \\u{1b}[2J');
});

test('matrices of one expert may lie in the stacks of all of them, the gate before the others', () => {
  const index = indexOf({
    'mlp.experts.gate_up_proj': { offset: 100, length: 3 * 4 * 5 * 4, shape: [3, 4, 5] },
    'mlp.experts.down_proj': { offset: 1000, length: 3 * 5 * 2 * 4, shape: [3, 5, 2] },
  });
  const weights = createWeights(index);
  const place = (name: string, shape: number[]) => {
    const { offset, length } = weights.take(`mlp.experts.${name}.weight`, shape);
    return [offset, length];
  };
  expect(place('1.gate_proj', [2, 5])).toEqual([100 + 80, 40]);
  expect(place('1.up_proj', [2, 5])).toEqual([100 + 120, 40]);
  expect(place('2.w3', [2, 5])).toEqual([100 + 200, 40]);
  expect(place('2.down_proj', [5, 2])).toEqual([1000 + 80, 40]);
  expect(weights.has('mlp.experts.3.down_proj.weight')).toBe(false);
  expect(weights.used()).toEqual(['mlp.experts.gate_up_proj', 'mlp.experts.down_proj']);
});
