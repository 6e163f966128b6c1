import { tensorJson } from '../../../runtime/tasks/tensor-json.js';

const nested = (values: number[], [first, ...rest]: number[]): unknown => {
  if (rest.length === 0) return values;
  const size = values.length / first!;
  return Array.from({ length: first! }, (_, i) => nested(values.slice(i * size, (i + 1) * size), rest));
};

test.each([[[4]], [[2, 3]], [[2, 3, 4]], [[3, 1, 2, 5]], [[70, 1000]]])(
  'a tensor of %j is nested arrays',
  async (dims) => {
    const values = Array.from({ length: dims.reduce((a, b) => a * b, 1) }, (_, i) => i / 2);
    const { encodedJson } = await tensorJson(Float32Array.from(values), dims);
    expect(JSON.parse(Buffer.concat(encodedJson).toString())).toEqual(nested(values, dims));
  },
);

test('what is no number is an error', async () => {
  await expect(tensorJson(Float32Array.of(NaN, 1), [1, 2])).rejects.toMatchObject({ reason: 'not_finite' });
});
