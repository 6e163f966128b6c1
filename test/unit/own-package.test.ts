import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownPackage } from '../../runtime/boot/own-package.js';

test('the nearest package above a folder is the one that it belongs to', () => {
  const outer = mkdtempSync(join(tmpdir(), 'slipway-own-'));
  const inner = join(outer, 'node_modules/slipway');
  mkdirSync(join(inner, 'dist/builder'), { recursive: true });
  for (const [folder, version] of [
    [outer, '9.0.0'],
    [inner, '1.2.3'],
  ] as const)
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ version }));
  expect(ownPackage(join(inner, 'dist/builder'))).toEqual({ folder: inner, version: '1.2.3' });
});
