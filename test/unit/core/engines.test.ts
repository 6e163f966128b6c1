import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { engineOf, findEngine } from '../../../runtime/core/engines.js';
import { ENGINE_IDS } from '../../../runtime/core/spec.js';

const ROOMS = ['runtime', 'builder', 'gateway'];
const COMPARED = new RegExp(String.raw`engine\)?\]?\s*[!=]==\s*'(?:${ENGINE_IDS.join('|')})'`, 'i');

describe('definitions of engines', () => {
  test.each([...ENGINE_IDS])('%s has one', (id) => {
    expect(findEngine(id)).toBe(engineOf(id));
  });

  test.each(['', 'onnx', 'toString', '__proto__'])('%p has none', (name) => {
    expect(findEngine(name)).toBeUndefined();
  });

  test('nobody compares the name of an engine', () => {
    const files = ROOMS.flatMap((room) =>
      readdirSync(room, { recursive: true, encoding: 'utf8' }).map((name) => join(room, name)),
    );
    const sources = files.filter((file) => file.endsWith('.ts'));
    expect(sources.length).toBeGreaterThan(1000);
    expect(sources.filter((file) => COMPARED.test(readFileSync(file, 'utf8')))).toEqual([]);
  });
});
