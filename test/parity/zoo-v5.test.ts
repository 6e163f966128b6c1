import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { familyOf } from '../../runtime/models/registry.js';
import { compareModels } from './compare-models.js';
import { TRANSFORMERS_5, type ZooModel, zooModels } from './zoo.js';

const typeOf = ({ repo }: ZooModel): string =>
  (JSON.parse(readFileSync(join(repo, 'config.json'), 'utf8')) as { model_type: string }).model_type;

const models = await zooModels([TRANSFORMERS_5]);

test('every family has a writer', () => {
  expect(models.map(typeOf).filter((type) => !familyOf(type))).toEqual([]);
});

compareModels(models);
