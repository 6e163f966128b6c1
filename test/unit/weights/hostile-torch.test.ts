import { readWeightIndex, type WeightsErrorCode } from '../../../runtime/weights/index.js';
import {
  int,
  pickle,
  pickledStorage,
  pickledTensor,
  sourceOf,
  stateDict,
  text,
  torchFile,
  zip,
  type ZipFile,
} from './support.js';

const NAME = 'pytorch_model.bin';
const read = (file: Buffer) => readWeightIndex(sourceOf({ [NAME]: file }).source);

async function refusal(file: Buffer): Promise<Error & { code: WeightsErrorCode }> {
  return read(file).then(
    () => Promise.reject(new Error('not refused')),
    (error: Error & { code: WeightsErrorCode }) => error,
  );
}

const INDEX: ZipFile = { name: 'a/data.pkl', data: stateDict() };
const DATA: ZipFile = { name: 'a/data/0', data: Buffer.from('ABCDEFGH') };

test.each([
  ['plain', torchFile()],
  ['zip64', torchFile(stateDict(), [], { zip64: true })],
  ['with its byte order', torchFile(stateDict(), [{ name: 'a/byteorder', data: Buffer.from('little') }])],
])('a well-formed file is read: %s', async (_, file) => {
  const tensor = (await read(file)).get('w')!;
  expect(file.toString('latin1', tensor.offset, tensor.offset + tensor.length)).toBe('ABCDEFGH');
  expect(tensor).toMatchObject({ file: NAME, type: 'F32', shape: [2] });
});

const ZIPS: [what: string, code: WeightsErrorCode, file: Buffer][] = [
  ['an empty file', 'legacy-pickle', Buffer.alloc(0)],
  ['a pickle', 'legacy-pickle', stateDict()],
  ['a pointer of Git LFS', 'lfs-pointer', Buffer.from('version https://git-lfs.github.com/spec/v1\n')],
  ['a compressed index', 'zip-compressed', zip([{ ...INDEX, method: 8 }, DATA])],
  ['a compressed storage', 'zip-compressed', zip([INDEX, { ...DATA, method: 8 }])],
  ['an encrypted index', 'zip-encrypted', zip([{ ...INDEX, flags: 1 }, DATA])],
  ['a strongly encrypted storage', 'zip-encrypted', zip([INDEX, { ...DATA, flags: 0x41 }])],
  ['a part of several', 'zip-split', torchFile(undefined, [], { disk: 1 })],
  ['a part of several of zip64', 'zip-split', torchFile(undefined, [], { disk: 1, zip64: true })],
  ['one entry twice', 'zip-duplicate', zip([INDEX, DATA, DATA])],
  ['a file cut off', 'zip-damaged', torchFile().subarray(0, -1)],
  ['something behind the end', 'zip-damaged', Buffer.concat([torchFile(), Buffer.from('x')])],
  ['something before the beginning', 'zip-damaged', Buffer.concat([Buffer.from('PK\x03\x04'), torchFile()])],
  ['a comment', 'zip-damaged', torchFile(undefined, [], { comment: 'x' })],
  ['too many entries announced', 'zip-damaged', torchFile(undefined, [], { count: 3 })],
  ['two ends that contradict', 'zip-damaged', torchFile(undefined, [], { zip64: true, longCount: 3 })],
  ['no index', 'zip-damaged', zip([DATA])],
  ['two indexes', 'zip-damaged', zip([INDEX, { ...INDEX, name: 'b/data.pkl' }, DATA])],
  ['another name in the local header', 'zip-damaged', zip([INDEX, { ...DATA, localName: 'a/data/1' }])],
  ['an entry behind the data', 'zip-damaged', zip([INDEX, { ...DATA, offset: 100_000 }])],
  ['an entry inside of another', 'zip-damaged', zip([{ ...INDEX, offset: 3 }, DATA])],
  ['an entry that reaches into the directory', 'zip-damaged', zip([INDEX, { ...DATA, size: 12 }])],
  ['TorchScript', 'torchscript', torchFile(undefined, [{ name: 'a/constants.pkl', data: Buffer.alloc(1) }])],
  ['big-endian', 'byte-order', torchFile(undefined, [{ name: 'a/byteorder', data: Buffer.from('big') }])],
  ['an index of 17 MB', 'pickle-limit', zip([{ ...INDEX, data: Buffer.alloc(17 * 2 ** 20, 'N') }, DATA])],
];

const value = (ops: string) => pickle(`\x80\x02}${text('w')}${ops}s.`);

const PICKLES: [what: string, code: WeightsErrorCode, index: Buffer][] = [
  ['os.system', 'pickle-global', value(`cos\nsystem\n${text('true')}\x85R`)],
  [
    'os.system by the stack',
    'pickle-global',
    value(`${text('os')}${text('system')}\x93${text('true')}\x85R`),
  ],
  ['eval', 'pickle-global', value(`cbuiltins\neval\n${text('1')}\x85R`)],
  ['a class of the list with arguments', 'pickle-global', value(`ccollections\nOrderedDict\n${int(1)}\x85R`)],
  ['a storage class called', 'pickle-global', value('ctorch\nFloatStorage\n)R')],
  ['a call of a text', 'pickle-global', value(`${text('x')})R`)],
  ['a call without a tuple', 'pickle-global', value(`ccollections\nOrderedDict\n${int(1)}R`)],
  ['a tensor with hooks', 'pickle-global', value(pickledTensor().replace(/\)RtR$/, `)R${text('a')}NstR`))],
  ['shape and strides of different lengths', 'pickle-global', stateDict({ shape: [1, 2] })],
  ['a tensor over bytes', 'pickle-global', stateDict({ storage: 'torch.storage\nUntypedStorage' })],
  ['an unknown storage', 'pickle-global', stateDict({ storage: 'torch\nQInt8Storage' })],
  ['an empty pickle', 'pickle-damaged', Buffer.alloc(0)],
  ['no end', 'pickle-damaged', stateDict().subarray(0, -1)],
  ['something behind the end', 'pickle-damaged', Buffer.concat([stateDict(), Buffer.from('N')])],
  ['two values', 'pickle-damaged', pickle('\x80\x02}}.')],
  ['a mark left', 'pickle-damaged', pickle('\x80\x02(}.')],
  ['a value that is not there', 'pickle-damaged', pickle('\x80\x02\x85.')],
  ['a value below a mark', 'pickle-damaged', pickle('\x80\x02}(\x85.')],
  ['a mark that is not there', 'pickle-damaged', pickle('\x80\x02}t.')],
  ['a value never remembered', 'pickle-damaged', pickle('\x80\x02h\x00.')],
  ['an odd number of items', 'pickle-damaged', pickle(`\x80\x02}(${text('a')}u.`)],
  ['items of a tuple', 'pickle-damaged', pickle(`\x80\x02)${text('a')}Ns.`)],
  ['attributes of a tensor', 'pickle-damaged', value(`${pickledTensor()}}b`)],
  ['a storage that is a text', 'pickle-damaged', value(`${text('storage')}Q`)],
  ['a text longer than the pickle', 'pickle-damaged', pickle('\x80\x02X\xff\xff\xff\x7fa.')],
  ['a text that is not UTF-8', 'pickle-damaged', pickle('\x80\x02}X\x01\x00\x00\x00\xffNs.')],
  ['a number of 200 bytes', 'pickle-damaged', pickle(`\x80\x02\x8a\xc8${'a'.repeat(200)}.`)],
  ['one name twice', 'duplicate-name', pickle(`\x80\x02}(${text('a')}N${text('a')}Nu.`)],
  ['a hundred thousand marks', 'pickle-limit', pickle(`\x80\x02${'('.repeat(100_001)}`)],
  ['a hundred thousand values', 'pickle-limit', pickle(`\x80\x02${'}'.repeat(100_001)}`)],
  ['a list', 'pickle-opcode', pickle('\x80\x02].')],
  ['nothing', 'not-a-state-dict', pickle('\x80\x02N.')],
  ['a storage instead of a tensor', 'not-a-state-dict', value(pickledStorage())],
  ['a storage without data', 'storage', stateDict({ key: '7' })],
  ['a storage elsewhere in the archive', 'storage', stateDict({ key: '../data.pkl' })],
  ['a storage of another length', 'storage', stateDict({ count: 3 })],
  ['a storage of another type', 'storage', stateDict({ storage: 'torch\nDoubleStorage' })],
  ['a tensor beyond its storage', 'tensor-size', stateDict({ offset: 1 })],
  ['a tensor larger than its storage', 'tensor-size', stateDict({ shape: [3] })],
  ['a view with gaps', 'strides', stateDict({ shape: [1, 2], strides: [2, 2] })],
];

test.each(ZIPS)('%s: %s', async (_, code, file) => {
  expect(await refusal(file)).toMatchObject({
    name: 'WeightsError',
    code,
    message: expect.stringMatching(/^pytorch_model\.bin .+; .+/) as string,
  });
});

test.each(PICKLES)('%s: %s', async (_, code, index) => {
  const error = await refusal(torchFile(index));
  expect({ name: error.name, code: error.code }).toEqual({ name: 'WeightsError', code });
});

/** The list of facts: what torch.save writes of a state dict. */
const KNOWN = '\x80\x95(.N\x88\x89JKM\x8aX\x8c})\x85\x86\x87tqr\x94hjc\x93QRbsu';

test('every opcode beyond the list is refused by name', async () => {
  for (let opcode = 0; opcode < 256; opcode++) {
    if (KNOWN.includes(String.fromCharCode(opcode))) continue;
    const error = await refusal(torchFile(pickle('\x80\x02}', opcode, '.')));
    expect({ opcode, code: error.code }).toEqual({ opcode, code: 'pickle-opcode' });
    expect(error.message).toMatch(
      /the pickle opcode (?:[A-Z_0-9]+|0x[0-9a-f]{2}),.*spaces\/safetensors\/convert/,
    );
  }
});

test('refusals of the list name the class and tell no lies about running it', async () => {
  const error = await refusal(torchFile(value(`cos\nsy\x1bstem\n${text('true')}\x85R`)));
  expect(error.message).toMatch(/names "os\.sy\\+u\{1b\}stem", which is not executed/);
});

test('headers that lie close together are read together, and data is not', async () => {
  const storages = Array.from({ length: 300 }, (_, i) => ({ name: `a/data/${i}`, data: Buffer.alloc(8) }));
  const large = { name: 'a/data/x', data: Buffer.alloc(2 ** 20) };
  const names = [...storages.map((_, i) => `${i}`), 'x'];
  const items = names.map(
    (key) => text(key) + pickledTensor(key === 'x' ? { key, count: 0, shape: [0] } : { key }),
  );
  const index = pickle(`\x80\x02}(${items.join('')}u.`);
  const file = zip([
    { name: 'a/data.pkl', data: index },
    ...storages.slice(0, 150),
    large,
    ...storages.slice(150),
  ]);
  const { source, reads } = sourceOf({ [NAME]: file });
  // The storage x does not have the length that its tensor announces: all else is read before.
  await expect(readWeightIndex(source)).rejects.toMatchObject({ code: 'storage' });
  expect(reads.length).toBeLessThan(10);
  expect(reads.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(200_000);
});
