import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { FIXED_MTIME, tarStream } from '../../../../builder/images/tar.js';
import { membersOf } from '../../../fakes/docker.js';

async function fileOf(text: string): Promise<string> {
  const file = path.join(await mkdtemp(path.join(tmpdir(), 'slipway-tar-')), 'file');
  await writeFile(file, text);
  return file;
}

describe('tarStream', () => {
  test('members are sorted, owned by root, of one time, with their modes', async () => {
    const file = await fileOf('from disk');
    const members = await membersOf(
      tarStream([
        { path: 'z', content: 'text' },
        { path: 'dir/', mode: 0o1777 },
        { path: 'a', mode: 0o755, content: { file, size: 9 } },
      ]),
    );
    expect([...members.keys()]).toEqual(['a', 'dir/', 'z']);
    expect(members.get('a')).toEqual({
      text: 'from disk',
      mode: 0o755,
      mtime: FIXED_MTIME,
      uid: 0,
      type: 'file',
    });
    expect(members.get('dir/')).toMatchObject({ mode: 0o1777, type: 'directory' });
    expect(members.get('z')).toMatchObject({ text: 'text', mode: 0o644 });
  });

  test('the same entries give the same bytes', async () => {
    const entries = [
      { path: 'b', content: 'b' },
      { path: 'a', content: 'a' },
    ];
    const [first, second] = await Promise.all([
      buffer(tarStream(entries)),
      buffer(tarStream(entries.toReversed())),
    ]);
    expect(first.equals(second)).toBe(true);
  });

  test('long paths survive', async () => {
    const long = `${'folder/'.repeat(40)}file`;
    expect([...(await membersOf(tarStream([{ path: long, content: '' }]))).keys()]).toContain(long);
  });

  test('folders that no entry names have the fixed time, too', async () => {
    const entries = [
      { path: 'a/b/c', content: '' },
      { path: 'a/b/', mode: 0o700 },
    ];
    const members = await membersOf(tarStream(entries));
    expect([...members.keys()]).toEqual(['a/', 'a/b/', 'a/b/c']);
    expect(members.get('a/')).toMatchObject({ type: 'directory', mode: 0o755, mtime: FIXED_MTIME });
    expect(members.get('a/b/')).toMatchObject({ mode: 0o700 });
  });

  test.each([
    ['is missing', async () => '/nonexistent/file', 4],
    ['has grown', async () => fileOf('12345'), 4],
    ['has shrunk', async () => fileOf('123'), 4],
  ])('a file that %s fails the stream', async (_, make, size) => {
    const stream = tarStream([{ path: 'x', content: { file: await make(), size } }]);
    await expect(buffer(stream)).rejects.toThrow();
  });
});
