import { mergeLayers } from '../../../../builder/archive/file-system.js';
import type { LayerEntry } from '../../../../builder/archive/layer.js';

const file = (path: string, sha256 = 'a'): LayerEntry => ({ path, type: 'file', size: 1, sha256 });
const folder = (path: string): LayerEntry => ({ path, type: 'directory', size: 0 });
const link = (path: string, target: string, type: 'link' | 'symlink' = 'link'): LayerEntry => ({
  path,
  type,
  size: 0,
  target,
});

const seen = (...layers: LayerEntry[][]) =>
  Object.fromEntries([...mergeLayers(layers)].map(([path, { sha256, type }]) => [path, sha256 ?? type]));

test('upper layers replace', () => {
  expect(seen([folder('/d'), file('/d/x', 'a')], [file('/d/x', 'b')])).toEqual({
    '/d': 'directory',
    '/d/x': 'b',
  });
});

test('a whiteout takes a file or a folder away', () => {
  const base = [folder('/d'), file('/d/x'), file('/d/y'), file('/dx')];
  expect(seen(base, [file('/d/.wh.x')])).toEqual({ '/d': 'directory', '/d/y': 'a', '/dx': 'a' });
  expect(seen(base, [file('/.wh.d')])).toEqual({ '/dx': 'a' });
});

test('an opaque folder hides what lower layers have in it, not what its own layer has', () => {
  const upper = [folder('/d'), file('/d/z', 'b'), file('/d/.wh..wh..opq')];
  expect(seen([folder('/d'), file('/d/x')], upper)).toEqual({ '/d': 'directory', '/d/z': 'b' });
});

test('what replaces a folder takes its content away', () => {
  expect(seen([folder('/d'), file('/d/x')], [link('/d', '/elsewhere', 'symlink')])).toEqual({
    '/d': 'symlink',
  });
});

test('a hard link is the file that it leads to; one that leads nowhere is no file', () => {
  expect(seen([file('/d/x', 'c')], [link('/y', 'd/x'), link('/z', 'nothing')])).toEqual({
    '/d/x': 'c',
    '/y': 'c',
    '/z': 'link',
  });
});
