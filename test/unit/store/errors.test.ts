import { StoreError, writeError } from '../../../runtime/store/errors.js';

test.each([
  ['ENOSPC', 'no_space', /the disk is full; free some space, or mount a writable volume at \/server\/model/],
  ['EDQUOT', 'no_space', /quota/],
  ['EACCES', 'permission', /may not write there; mount a writable volume .* --bake/],
  ['EPERM', 'permission', /may not write/],
  ['EROFS', 'permission', /read-only; mount/],
  ['EMFILE', 'storage', /too many files open; raise the limit/],
  ['EISDIR', 'storage', /a folder lies where a file belongs; move away/],
  ['ENOTDIR', 'storage', /a file lies where a folder belongs; move away/],
  ['EFBIG', 'no_space', /ulimit -f/],
  ['ENOENT', 'storage', /removed meanwhile; try again/],
  ['EIO', 'storage', /check the disk/],
])('%s while writing says what to do', (code, kind, message) => {
  const error = writeError(Object.assign(new Error('write'), { code }), '/server/model/org/name');
  expect(error).toBeInstanceOf(StoreError);
  expect(error).toMatchObject({ kind, message: expect.stringMatching(message) });
  expect((error as StoreError).message).toContain('/server/model/org/name');
});

test('the remedy names another place where there is one', () => {
  const error = writeError(
    Object.assign(new Error('x'), { code: 'EROFS' }),
    '/cache',
    'give another --cache',
  );
  expect((error as StoreError).message).toBe(
    "can't write /cache: the file system is read-only; give another --cache",
  );
});

test('other errors stay what they are', () => {
  const other = new Error('x');
  const ours = new StoreError('corrupt', 'x');
  expect(writeError(other, 'y')).toBe(other);
  expect(writeError(ours, 'y')).toBe(ours);
});

test('only what may pass by itself is worth another try', () => {
  const kinds = ['network', 'rate_limited', 'corrupt', 'gated', 'not_found', 'no_space'] as const;
  expect(kinds.filter((kind) => new StoreError(kind, 'x').retryable)).toEqual(['network', 'rate_limited']);
});
