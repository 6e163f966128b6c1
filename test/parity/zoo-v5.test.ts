import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parsePythonJson } from '../../runtime/core/python-json.js';
import { normalizeConfig } from '../../runtime/hub-config/normalize.js';
import { familyOf } from '../../runtime/models/registry.js';
import { compareModels } from './compare-models.js';
import { compareRandom } from './random-answers.js';
import { TRANSFORMERS_5, type ZooModel, zooModels } from './zoo.js';

/** As readers see it: of files that hold more than what answers, the part that does. */
const typeOf = ({ repo }: ZooModel): string => {
  const config = parsePythonJson(readFileSync(join(repo, 'config.json'), 'utf8'));
  return normalizeConfig(config)['model_type'] as string;
};

/** A folder of random models (scripts/fixtures/random_answers.py), which are compared in place of the fixtures. */
const RANDOM = process.env['RANDOM_CONFIGS'];
const models = await zooModels([RANDOM ?? TRANSFORMERS_5]);

if (RANDOM === undefined) {
  test('every family has a writer', () => {
    expect(models.map(typeOf).filter((type) => !familyOf(type))).toEqual([]);
  });
  compareModels(models);
} else compareRandom(models);
