import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RunError } from '../../runtime/core/errors.js';
import { parsePythonJson } from '../../runtime/core/python-json.js';
import { createFeatureExtractor } from '../../runtime/engines/processors/audio/feature-extractor.js';
import { checkedProcessing } from '../../runtime/engines/processors/check-processing.js';
import { createImageProcessor } from '../../runtime/engines/processors/image/image-processor.js';
import { changedConfig, type Config } from '../unit/graphs/changes.js';
import { randomOf } from './random.js';
import { again, networkSeeds, ROUNDS } from './seeds.js';

/** Settings of processors by strangers: what is made of them is finite, or a refusal, never a fault of another kind. */

const FIXTURES = join(import.meta.dirname, '../fixtures');

const FILES = ['zoo-v5', 'zoo-own', 'zoo-weights'].flatMap((zoo) =>
  readdirSync(join(FIXTURES, zoo), { recursive: true, encoding: 'utf8' })
    .filter((name) => /(?:^|\/)(?:pre)?processor_config\.json$/.test(name))
    .sort()
    .map((name) => join(zoo, name)),
);

function settingsIn(name: string): Config {
  const whole = parsePythonJson(readFileSync(join(FIXTURES, name), 'utf8')) as Config;
  return (whole['image_processor'] ?? whole['feature_extractor'] ?? whole) as Config;
}

const [WIDTH, HEIGHT] = [40, 30];
const image = {
  data: Uint8Array.from({ length: WIDTH * HEIGHT * 3 }, (_, i) => (i * 7919) % 256),
  ...{ width: WIDTH, height: HEIGHT, channels: 3 },
};
/** A quarter of a second at the usual rate. */
const clip = Float32Array.from({ length: 4000 }, (_, i) => Math.sin(i / 5));

/** A clip takes as many frames as the changed settings ask for, and a caller would not wait for them either. */
const PATIENCE = 500;

/** What the processor makes of one image or clip. */
async function made(settings: Config): Promise<Float32Array> {
  checkedProcessing('settings', settings);
  if (settings['image_processor_type'] !== undefined)
    return createImageProcessor(settings).process(image).values;
  const extractor = createFeatureExtractor(settings);
  return (await extractor.extract(clip, AbortSignal.timeout(PATIENCE))).values;
}

/** True where numbers came out. */
async function isTaken(settings: Config): Promise<boolean> {
  try {
    const values = await made(settings);
    expect(values.every(Number.isFinite)).toBe(true);
    return true;
  } catch (error) {
    if (error instanceof RunError || (error as Error).name === 'TimeoutError') return false;
    throw error;
  }
}

const known = FILES.filter((name) => {
  const settings = settingsIn(name);
  return settings['image_processor_type'] !== undefined || settings['feature_extractor_type'] !== undefined;
});

test('there are settings of images and of audio clips', () => {
  const kinds = new Set(known.map((name) => 'image_processor_type' in settingsIn(name)));
  expect(kinds.size).toBe(2);
});

test.each(known.map((name, nth) => [name, nth] as const))(
  '%s with changed settings',
  async (name, nth) => {
    const seeds = networkSeeds(nth);
    for (let round = 0; round < ROUNDS; round++) {
      const seed = seeds.next().value as number;
      if (seed === undefined) return;
      const { config: settings } = changedConfig(settingsIn(name), randomOf(seed));
      try {
        await isTaken(settings);
      } catch (error) {
        throw new Error(`${again(seed)}: ${JSON.stringify(settings).slice(0, 2000)}`, { cause: error });
      }
    }
  },
  60_000 + ROUNDS * 2000,
);
