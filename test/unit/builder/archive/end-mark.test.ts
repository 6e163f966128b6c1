import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import tar from 'tar-stream';
import { requireEndMark } from '../../../../builder/archive/end-mark.js';
import { type Entry, file, tarOf } from '../../../fakes/archive.js';

const read = (bytes: Buffer, step = 1000) => {
  const pieces = Array.from({ length: Math.ceil(bytes.length / step) }, (_, index) =>
    bytes.subarray(index * step, (index + 1) * step),
  );
  return buffer(requireEndMark(Readable.from(pieces, { objectMode: false }), 'x.tar'));
};
const ENTRIES: Entry[] = [
  { name: 'a/', type: 'directory' },
  file('a/zeros', Buffer.alloc(5000)),
  { name: 'a/link', type: 'symlink', linkname: 'zeros', content: '' },
  file(`${'long/'.repeat(60)}name`, 'x'),
  file('b', 'y'.repeat(512)),
];

test.each([1, 511, 512, 513, 4096, 2 ** 20])(
  'a tar that ends where it says, in pieces of %d',
  async (step) => {
    const bytes = await tarOf(ENTRIES);
    expect(await read(bytes, step)).toEqual(bytes);
    const padded = Buffer.concat([bytes, Buffer.alloc(9 * 1024)]);
    expect(await read(padded, step)).toEqual(padded);
  },
);

test.each([1, 512, 700, 2 ** 20])('what follows its end is refused, in pieces of %d', async (step) => {
  const hidden = Buffer.concat([await tarOf(ENTRIES), await tarOf([file('manifest.json', '[]')])]);
  await expect(read(hidden, step)).rejects.toThrow(/x\.tar goes on behind the mark of its end/);
});

test('sizes that stand in extended headers, or as numbers of bytes, are followed', async () => {
  const pack = tar.pack();
  pack.entry({ name: 'a', pax: { size: '1500', comment: 'x' } }, 'x'.repeat(1500));
  pack.entry({ name: 'b', pax: { comment: 'x' } }, Buffer.alloc(700));
  pack.finalize();
  const bytes = await buffer(pack);
  // The first header of a file comes behind its extension; what it says of its size is nothing then.
  bytes.write('00000000000 ', 1024 + 124);
  expect(await read(bytes)).toEqual(bytes);

  const [header] = [await tarOf([file('c', Buffer.alloc(3000))])];
  header.fill(0, 124, 136);
  header[124] = 0x80;
  header.writeUInt32BE(3000, 132);
  expect(await read(header)).toEqual(header);
  await expect(read(Buffer.concat([header, Buffer.from('x')]))).rejects.toThrow(/goes on/);
});

test('what is no tar is left to who reads it', async () => {
  const bytes = Buffer.alloc(4096, 'no tar ');
  expect(await read(bytes)).toEqual(bytes);
});
