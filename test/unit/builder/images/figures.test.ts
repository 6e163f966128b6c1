import { figureLabels, figuresOf, LABEL, modelLabels } from '../../../../builder/images/labels.js';
import { planModelImage, renderModelContext } from '../../../../builder/images/model-plan.js';
import { predictedFigures } from '../../../../builder/plan/figures.js';
import { imageMemory } from '../../../../builder/plan/vision/image-memory.js';
import { sizesOf } from '../../../../builder/plan/network/sizes.js';
import { peakBytes } from '../../../../builder/seal/measure.js';
import { IMAGE_OPTIONS, sampleSpec } from '../fixtures.js';

const FIGURES = {
  parameters: 66_955_010,
  memoryBytes: 700_000_000,
  loadSeconds: 5.8,
  basis: 'predicted',
} as const;

describe('what a model takes, in labels', () => {
  test('comes back as it was written', () => {
    const labels = Object.fromEntries(figureLabels(FIGURES));
    expect(labels).toEqual({
      [LABEL.parameters]: '66955010',
      [LABEL.memory]: '700000000',
      [LABEL.load]: '5.8',
      [LABEL.figures]: 'predicted',
    });
    expect(figuresOf(labels)).toEqual(FIGURES);
  });

  test('is absent where it is not known', () => {
    const gpu = predictedFigures({ formats: [sampleSpec()], facts: FACTS, parameters: undefined }, 'cuda');
    expect(figureLabels(gpu)).toEqual([]);
    expect(figureLabels({ ...gpu, parameters: 5 }).map(([name]) => name)).toEqual([
      LABEL.parameters,
      LABEL.figures,
    ]);
    expect(figuresOf({})).toBeUndefined();
  });

  test.each(['-1', '0', '1e9', 'NaN', '0x10', '', '9'.repeat(40), '1\n2'])(
    'a foreign label %j is no figure',
    (text) => {
      expect(figuresOf({ [LABEL.memory]: text, [LABEL.figures]: 'measured' })?.memoryBytes).toBeUndefined();
    },
  );

  test('says nothing about whether an image has to be built again', () => {
    const context = (figures?: typeof FIGURES) =>
      renderModelContext(
        planModelImage(sampleSpec(), 'runtime', { ...IMAGE_OPTIONS, figures }),
        'FROM x\nLABEL <%= it.labels %>',
      );
    expect(context(FIGURES).digest).toBe(context().digest);
    expect(context(FIGURES).files.Dockerfile).toContain('"io.slipway.memory"="700000000"');
  });
});

test('processes that map the same programs share those pages', () => {
  const parent = { peak: 90_000, files: 50_000 };
  const child = { peak: 300_000, files: 80_000 };
  expect(peakBytes([parent, child])).toBe((40_000 + 220_000 + 80_000) * 1024);
  expect(peakBytes([])).toBe(0);
});

const FACTS = {
  architectures: [],
  customCode: false,
  hasChatTemplate: false,
  readers: {},
  sentenceModules: false,
  hasTimmSettings: false,
  notes: [],
  network: { sizes: sizesOf({}) },
  image: imageMemory({}, {}),
};

test('what packing cost a network is in labels', () => {
  const spec = { ...sampleSpec(), likeness: 0.986, perplexity: { plain: 21.36, packed: 24.67 } };
  const labels = Object.fromEntries(
    modelLabels({ spec, device: 'cpu', platform: 'linux/amd64', baked: true, version: '1.0.0' }),
  );
  expect(labels).toMatchObject({
    [LABEL.likeness]: '0.986',
    [LABEL.perplexity]: '24.67 (21.36 unpacked)',
  });
});
