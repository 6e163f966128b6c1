import { mostMappings, requireMappings } from '../../../../runtime/engines/sessions/mappings.js';
import { createGraphWriter } from '../../../../runtime/models/writer/graph-writer.js';
import { inPlace } from '../../../../runtime/models/writer/storage.js';
import { everyTensor } from '../../../fakes/every-tensor.js';

/** A graph that sums up so many tensors of a file. */
function graphOf(tensors: number): Uint8Array {
  const g = createGraphWriter(everyTensor, inPlace);
  const all = Array.from({ length: tensors }, (_, i) => g.weight(`layers.${i}.weight`, [32, 32]));
  g.output('sum', g.node('Sum', all), 'float32', [32, 32]);
  return g.finish();
}

test('more tensors than the kernel maps are refused before minutes have gone by, with what helps', () => {
  expect(() => requireMappings(graphOf(900), 800)).toThrow(
    /has 900 tensors.* map 800 parts.*sysctl -w vm\.max_map_count=5800/,
  );
});

test('a mapping for each tensor, and some for the process, are enough', () => {
  expect(() => requireMappings(graphOf(3000), 4999)).toThrow('vm.max_map_count');
  expect(() => requireMappings(graphOf(3000), 5000)).not.toThrow();
});

test('the limit is the one of this machine', () => {
  expect(mostMappings()).toBeGreaterThan(1000);
  expect(() => requireMappings(graphOf(900))).not.toThrow();
});
