import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureTools, findTools } from '../../../../builder/export/tools.js';
import { PINNED } from '../../../../builder/export/versions.js';
import { folderWith } from '../../store/folders.js';

/** A Python that says what its packages are. */
function pythonWith(versions: Record<string, string>): string {
  const file = join(folderWith({ python: `#!/bin/sh\necho '${JSON.stringify(versions)}'\n` }), 'python');
  chmodSync(file, 0o755);
  return file;
}

const request = (python?: string) => ({ python, cache: folderWith(), packageRoot: '.', env: {} });

describe('the tools for exports', () => {
  test('the requirements have the versions that records name, and pin all others', () => {
    const lines = readFileSync('builder/export/python/requirements.txt', 'utf8').split('\n');
    const pins = lines.filter((line) => /^\w/.test(line));
    for (const pin of pins) expect(pin).toMatch(/^[a-z0-9-]+==[0-9.]+(?:\+cpu)?(?:; .*)?$/);
    for (const [name, version] of Object.entries(PINNED)) {
      const own = pins.filter((pin) => pin.startsWith(`${name.replace('_', '-')}==`));
      expect(own.length).toBeGreaterThan(0);
      for (const pin of own) expect(pin.split('==')[1]).toMatch(new RegExp(`^${version}(?:\\+cpu)?(?:;|$)`));
    }
  });

  test("an operator's own Python has exactly those", async () => {
    const python = pythonWith({ ...PINNED });
    expect(await findTools(request(python))).toEqual({ python, from: python });
    expect(await findTools(request(pythonWith({ ...PINNED, torch: '2.9.0' })))).toEqual({
      problem: `SLIPWAY_EXPORT_PYTHON has torch 2.9.0, not ${PINNED['torch']}`,
      remedy: expect.stringContaining('requirements.txt into it'),
    });
  });

  test('an installation without its requirements is none', async () => {
    const state = await findTools({ ...request(), packageRoot: folderWith() });
    expect(state).toMatchObject({ problem: 'this installation lacks its requirements' });
  });

  test('one that is not there is said by name, with what to do', async () => {
    await expect(ensureTools(request('/nowhere/python'), { onInstall: () => undefined })).rejects.toThrow(
      "SLIPWAY_EXPORT_PYTHON: /nowhere/python can't be run (ENOENT); install builder/export/python/requirements.txt",
    );
  });
});
