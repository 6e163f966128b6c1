import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { torchNormal } from '../../../runtime/core/torch-generator.js';

interface Row {
  seed: number;
  draws: { count: number; at: number[]; values: number[] }[];
}

const file = join(import.meta.dirname, '../../fixtures/torch-noise.json');
const rows = JSON.parse(readFileSync(file, 'utf8')) as Row[];

test.each(rows.map((row) => [row.seed, row.draws] as const))('seed %d draws as torch does', (seed, draws) => {
  const draw = torchNormal(seed);
  for (const { count, at, values } of draws) {
    const drawn = draw(count);
    expect(drawn).toHaveLength(count);
    const off = at.map((place, i) => Math.abs(drawn[place]! - values[i]!));
    expect(Math.max(...off)).toBeLessThan(1e-6);
  }
});
