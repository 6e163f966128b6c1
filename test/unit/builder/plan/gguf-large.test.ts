import { planModel } from '../../../../builder/plan/index.js';
import { hubSource } from '../../../../runtime/store/hub.js';
import { type Hub, startHub } from '../../../fakes/hub.js';
import { LLAMA_70B, largeGguf } from '../../../helpers/gguf/large-model.js';
import { folderWith } from '../../store/folders.js';

const GB = 1e9;

let hub: Hub;
let size: number;

beforeAll(async () => {
  const file = largeGguf(LLAMA_70B);
  size = file.size;
  const large = { 'large-Q4_K_M.gguf': file };
  hub = await startHub({ models: { 'o/large': { dir: folderWith({}), tags: ['gguf'], large } } });
});
afterAll(() => hub.close());

test('a model of 70 billion weights is planned from its first megabytes', async () => {
  expect(size / GB).toBeGreaterThan(42);
  const source = hubSource({ endpoint: hub.url });
  const { spec, gguf, reasons } = await planModel({ id: 'o/large', source, engine: 'llama' });
  expect(hub.sentBytes()).toBeLessThan(20e6);
  expect(spec).toMatchObject({ task: 'chat', engine: 'llama', files: [{ path: 'large-Q4_K_M.gguf', size }] });
  expect(gguf!.chosen).toMatchObject({ path: 'large-Q4_K_M.gguf' });
  expect(reasons.join('\n')).toMatch(/large-Q4_K_M/);
});
