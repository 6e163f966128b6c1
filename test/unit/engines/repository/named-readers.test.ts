import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LoadRequest } from '../../../../runtime/core/load-request.js';
import type { ModelSpec } from '../../../../runtime/core/spec.js';
import { readersIn, withReaders } from '../../../../runtime/engines/repository/named-readers.js';

function requestOf(spec: Partial<ModelSpec>, config?: object): LoadRequest {
  const dir = mkdtempSync(join(tmpdir(), 'readers-'));
  if (config) writeFileSync(join(dir, 'config.json'), JSON.stringify(config));
  return { dir, spec: { engine: 'transformers', ...spec } } as LoadRequest;
}

test('what model.json says goes before config.json', async () => {
  const request = requestOf({ readers: { processor: 'Bit' } }, { model_type: 'clip' });
  expect(readersIn(await withReaders(request))).toEqual({ processor: 'Bit' });
});

test('a model.json of an older builder has none: they are those of its type', async () => {
  expect(readersIn(await withReaders(requestOf({}, { model_type: 'clip' })))).toEqual({ processor: 'CLIP' });
});

test('without a configuration there are none', async () => {
  expect(readersIn(await withReaders(requestOf({})))).toEqual({});
});

test('llama.cpp reads its files itself', async () => {
  expect(readersIn(await withReaders(requestOf({ engine: 'llama' }, { model_type: 'clip' })))).toEqual({});
});
