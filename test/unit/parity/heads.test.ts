import { headOf, oneForEachHead } from '../../parity/heads.js';
import { ALL_ROOTS, zooPlaces } from '../../parity/zoo.js';

test('each head that any model has is there, and nothing of it twice without need', async () => {
  const places = await zooPlaces(ALL_ROOTS);
  const chosen = oneForEachHead(places);
  const found = places.filter(({ dir }) => chosen.has(dir)).map(headOf);
  expect(new Set(found)).toEqual(new Set(places.map(headOf)));
  // Graphs of half precision come on top.
  expect(found.length - new Set(found).size).toBeLessThan(5);
});

test('a graph of half precision is there, however large, beside the smallest of its head', async () => {
  const places = (await zooPlaces(ALL_ROOTS)).filter(({ task }) => task === 'text-generation');
  expect(oneForEachHead(places).size).toBe(2);
});
