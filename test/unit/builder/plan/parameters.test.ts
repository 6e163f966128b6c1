import { graphWeights } from '../../../../builder/plan/graph-weights.js';
import { countParameters } from '../../../../builder/plan/parameters.js';
import { intAttribute } from '../../../../runtime/onnx/make.js';
import { bytesReader, ProtobufError, writeField, writeNumber } from '../../../../runtime/onnx/protobuf.js';
import { files, plan } from './models.js';

const FLOAT = 1;
const UINT8 = 2;
const INT64 = 7;

const tensor = (name: string, type: number, ...dims: number[]) =>
  writeField(5, ...dims.map((size) => writeNumber(1, size)), writeNumber(2, type), writeField(8, name));
const packedDims = (name: string, dims: Buffer) =>
  writeField(5, writeField(1, dims), writeNumber(2, FLOAT), writeField(8, name));
const node = (op: string, inputs: string[], attributes: Uint8Array[] = []) =>
  writeField(1, ...inputs.map((input) => writeField(1, input)), writeField(4, op), ...attributes);
const weights = (...fields: Uint8Array[]) => graphWeights(bytesReader(writeField(7, ...fields)));

describe('parameters of a graph', () => {
  test('are the elements of its weights; indices and shapes are none', () => {
    const found = weights(tensor('w', FLOAT, 300, 20), tensor('b', FLOAT, 20), tensor('shape', INT64, 4));
    expect(countParameters([found])).toBe(6020);
    expect(weights(packedDims('w', Buffer.from([0xac, 0x02, 20])))[0]).toMatchObject({
      shape: '300x20',
      count: 6000,
    });
  });

  test('of eight bits are counted without their scales and zero points', () => {
    const found = weights(
      tensor('w_quantized', UINT8, 32, 10),
      tensor('w_scale', FLOAT, 10),
      tensor('w_zero_point', UINT8, 10),
    );
    expect(countParameters([found])).toBe(320);
  });

  test('of four bits are those of the matrix that was packed', () => {
    const shape = [intAttribute('K', 64), intAttribute('N', 10), intAttribute('bits', 4)];
    const found = weights(
      tensor('w_Q4', UINT8, 10, 2, 16),
      tensor('scales', FLOAT, 20),
      tensor('points', UINT8, 10),
      node('MatMulNBits', ['x', 'w_Q4', 'scales', 'points'], shape),
      tensor('table', UINT8, 100, 16),
      node('GatherBlockQuantized', ['table', 'ids', 'table_s', 'table_z']),
      tensor('table_s', FLOAT, 100),
      tensor('table_z', UINT8, 50),
    );
    expect(countParameters([found])).toBe(64 * 10 + 100 * 32);
  });

  test('that two graphs share count once; names given by chance do not meet', () => {
    const one = weights(tensor('shared', FLOAT, 10, 10), tensor('onnx::MatMul_1', FLOAT, 3));
    const other = weights(tensor('shared', FLOAT, 10, 10), tensor('onnx::MatMul_1', FLOAT, 3));
    expect(countParameters([one, other])).toBe(106);
  });

  test('are not guessed from bytes that are no graph', () => {
    expect(() => graphWeights(bytesReader(Buffer.from('<html>not found</html>')))).toThrow(ProtobufError);
  });
});

describe('parameters of a plan', () => {
  test('are counted in graphs that were read anyway', async () => {
    const graph = writeField(7, tensor('w', FLOAT, 7, 5));
    expect((await plan({ ...files, 'onnx/model.onnx': graph })).parameters).toBe(35);
  });

  test('of a graph that is left where it is come from its size, of a quantised one from its plain sibling', async () => {
    const plain = Buffer.alloc(40_000_000);
    expect((await plan({ ...files, 'onnx/model.onnx': plain })).parameters).toBe(10_000_000);
    const content = { ...files, 'onnx/model.onnx': plain, 'onnx/model_q4.onnx': Buffer.alloc(7_000_000) };
    expect((await plan(content, { dtype: 'q4' })).parameters).toBe(10_000_000);
    const { 'onnx/model.onnx': _, ...alone } = content;
    expect((await plan(alone, { dtype: 'q4' })).parameters).toBeUndefined();
  });
});
