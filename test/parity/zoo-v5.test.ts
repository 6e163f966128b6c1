import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { planModel } from '../../builder/plan/index.js';
import { familyOf } from '../../runtime/models/registry.js';
import { folderSource } from '../../runtime/store/folder.js';
import { compareModels } from './compare-models.js';
import { TRANSFORMERS_5, type ZooModel, zooModels } from './zoo.js';

const typeOf = ({ repo }: ZooModel): string =>
  (JSON.parse(readFileSync(join(repo, 'config.json'), 'utf8')) as { model_type: string }).model_type;

const models = await zooModels([TRANSFORMERS_5]);
const isKnown = (model: ZooModel): boolean => familyOf(typeOf(model)) !== undefined;

compareModels(models.filter(isKnown));

describe('families without a writer are refused by name', () => {
  test.each(models.filter((model) => !isKnown(model)).map((model) => [typeOf(model), model] as const))(
    '%s',
    async (type, { repo, about, task }) => {
      const plan = planModel({ source: folderSource(repo), id: about.id, task });
      await expect(plan).rejects.toThrow(`no graph can be written for ${type}`);
      // Without a task, too: a refusal that another task would lift is none.
      await expect(planModel({ source: folderSource(repo), id: about.id })).rejects.toThrow(type);
    },
  );
});
