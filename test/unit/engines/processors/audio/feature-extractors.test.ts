import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFeatureExtractor } from '../../../../../runtime/engines/processors/audio/feature-extractor.js';

interface Row {
  class: string;
  config: Record<string, unknown>;
  length: number;
  volume: number;
  dims: number[];
  values: number[];
  mask?: number[];
}

/** From scripts/fixtures/feature_extractors.py: every `step`-th number. */
const path = join(import.meta.dirname, '../../../../fixtures/feature-extractors.json');
const { step, rows } = JSON.parse(readFileSync(path, 'utf8')) as { step: number; rows: Row[] };

/** As in the script. */
function audio(length: number, volume: number): Float32Array {
  let state = 1;
  return Float32Array.from({ length }, (_, i) => {
    state = Number((BigInt(state) * 1103515245n + 12345n) % 2n ** 31n);
    const noise = ((state >> 16) % 2048) - 1024;
    const phase = i % 100;
    const wave = (phase < 50 ? phase : 100 - phase) * 400 - 10000;
    return ((wave + noise * 4) * volume) / 32768;
  });
}

/** Python computes spectra in single precision. */
const CLOSE = 2e-4;

test.each(rows.map((row) => [`${row.class} ${JSON.stringify(row.config)} ${row.length}`, row] as const))(
  '%s: the numbers of Python’s class',
  async (_, row) => {
    const config = { ...row.config, feature_extractor_type: `${row.class}FeatureExtractor` };
    const extractor = createFeatureExtractor(config);
    expect(extractor.rate).toBe(row.config['sampling_rate'] ?? 16_000);
    const found = await extractor.extract(audio(row.length, row.volume), new AbortController().signal);
    expect(found.dims).toEqual(row.dims);
    const wrong = row.values.flatMap((wanted, i) => {
      const value = found.values[i * step]!;
      return Math.abs(value - wanted) <= CLOSE * Math.max(1, Math.abs(wanted)) ? [] : [{ i, value, wanted }];
    });
    expect(wrong).toEqual([]);
    if (row.mask) {
      const { length, content } = found.mask;
      expect(Array.from({ length }, (__, i) => Number(i < content))).toEqual(row.mask);
    }
  },
);
