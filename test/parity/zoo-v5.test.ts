import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { familyOf } from '../../runtime/models/registry.js';
import { compareModels } from './compare-models.js';
import { compareRandom } from './random-answers.js';
import { TRANSFORMERS_5, type ZooModel, zooModels } from './zoo.js';

const typeOf = ({ repo }: ZooModel): string =>
  (JSON.parse(readFileSync(join(repo, 'config.json'), 'utf8')) as { model_type: string }).model_type;

/** A folder of random models (scripts/fixtures/random_answers.py), which are compared in place of the fixtures. */
const RANDOM = process.env['RANDOM_CONFIGS'];
const models = await zooModels([RANDOM ?? TRANSFORMERS_5]);

if (RANDOM === undefined) {
  test('every family has a writer', () => {
    expect(models.map(typeOf).filter((type) => !familyOf(type))).toEqual([]);
  });
  compareModels(models);
} else compareRandom(models);
