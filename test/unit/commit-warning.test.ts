import { commitWarning, mountPointOf } from '../../runtime/boot/commit-warning.js';
import { readServerSettings } from '../../runtime/boot/config.js';

const MOUNTS = [
  '1 0 0:1 / / rw - overlay overlay rw',
  '2 1 0:2 / /server/model rw - ext4 /dev/sda rw',
  '3 1 0:3 / /mnt/with\\040blank rw - ext4 /dev/sda rw',
  '',
].join('\n');

test.each([
  ['/server/model', '/server/model'],
  ['/server/model/org', '/server/model'],
  ['/server/models', '/'],
  ['/mnt/with blank/x', '/mnt/with blank'],
  ['/', '/'],
])('%s lies on %s', (path, point) => {
  expect(mountPointOf(path, MOUNTS)).toBe(point);
});

test.each([
  [{ KEY: 'a', HF_TOKEN: 'b' }, ['KEY', 'HF_TOKEN']],
  [{ KEY: '', KEY_FILE: '/run/key' }, []],
  [{ HF_TOKEN: 'b' }, ['HF_TOKEN']],
])('%j exposes %j', (env, names) => {
  expect(readServerSettings(env).exposed).toEqual(names);
});

test('outside of an image, or without a secret in the environment, there is nothing to warn of', () => {
  expect(commitWarning({ RUN_AS: undefined, exposed: ['KEY'] }, '/')).toBeUndefined();
  expect(commitWarning({ RUN_AS: 1000, exposed: [] }, '/')).toBeUndefined();
});

test('the warning names the variables, their files and the other way', () => {
  expect(commitWarning({ RUN_AS: 1000, exposed: ['KEY', 'HF_TOKEN'] }, '/')).toMatch(
    /docker commit.* KEY and HF_TOKEN .*KEY_FILE and HF_TOKEN_FILE.*builder snapshot/,
  );
});
