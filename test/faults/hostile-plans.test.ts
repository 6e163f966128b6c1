import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { planModel } from '../../builder/plan/index.js';
import { Refusal } from '../../builder/plan/refusal.js';
import { isTaskId, type TaskId } from '../../runtime/core/task-ids.js';
import { parsePythonJson } from '../../runtime/core/python-json.js';
import { StoreError } from '../../runtime/store/errors.js';
import { folderSource } from '../../runtime/store/folder.js';
import type { ModelSource } from '../../runtime/store/source.js';
import { changedConfig, type Config } from '../unit/graphs/changes.js';
import { randomOf } from './random.js';
import { again, networkSeeds, ROUNDS } from './seeds.js';

/** Configurations of strangers before a graph is written: what is made of them for the forecast, the tokenizer and the task. */

const FIXTURES = join(import.meta.dirname, '../fixtures');

interface Repository {
  name: string;
  task: TaskId;
  dir: string;
}

const REPOSITORIES: Repository[] = ['zoo-v5', 'zoo-weights'].flatMap((zoo) =>
  readdirSync(join(FIXTURES, zoo))
    .filter(isTaskId)
    .flatMap((task) =>
      readdirSync(join(FIXTURES, zoo, task)).map((name) => {
        return { name: `${zoo}/${task}/${name}`, task, dir: join(FIXTURES, zoo, task, name, 'repo') };
      }),
    )
    .filter(({ dir }) => existsSync(join(dir, 'config.json'))),
);

/** The folder as a hub's repository, with another config.json. */
function withConfig(dir: string, config: Config): ModelSource {
  const source = folderSource(dir);
  return {
    ...source,
    readText: (info, name) =>
      name === 'config.json' ? Promise.resolve(JSON.stringify(config)) : source.readText(info, name),
  };
}

/** True where a plan was made; anything but a refusal fails the test. */
async function isPlanned({ dir, task }: Repository, config: Config): Promise<boolean> {
  const source = withConfig(dir, config);
  try {
    await planModel({ source, id: 'org/m', task });
    return true;
  } catch (error) {
    if (error instanceof Refusal || error instanceof StoreError) return false;
    throw error;
  }
}

const TASKS = [...new Set(REPOSITORIES.map(({ task }) => task))].sort();

/** Some tasks have fifty repositories, of which each plan takes some ten milliseconds. */
const MOST_TIME = 30_000 + ROUNDS * 6000;

test.each(TASKS)(
  '%s: changed configurations are planned, or refused',
  async (task) => {
    const found = { planned: 0, refused: 0 };
    for (const repository of REPOSITORIES.filter((one) => one.task === task)) {
      const given = parsePythonJson(readFileSync(join(repository.dir, 'config.json'), 'utf8')) as Config;
      let rounds = 0;
      for (const seed of networkSeeds(REPOSITORIES.indexOf(repository))) {
        if (rounds++ === ROUNDS) break;
        const { config, changes } = changedConfig(given, randomOf(seed));
        const planned = await isPlanned(repository, config).catch((cause: unknown) => {
          const what = `${repository.name} ${JSON.stringify(changes).slice(0, 300)}`;
          throw new Error(`${again(seed)} hostile-plans: ${what}: ${String(cause)}`, { cause });
        });
        found[planned ? 'planned' : 'refused']++;
      }
    }
    expect(found.planned + found.refused).toBeGreaterThan(0);
  },
  MOST_TIME,
);

test('sizes of an inner network that fit nothing are refused by name', async () => {
  const repository = REPOSITORIES.find(({ name }) => name.endsWith('/pp-chart2table'))!;
  const config = parsePythonJson(readFileSync(join(repository.dir, 'config.json'), 'utf8')) as Config;
  const inner = config['text_config'] as Config;
  const odd = { ...config, text_config: { ...inner, hidden_size: 5, head_dim: undefined } };
  await expect(
    planModel({ source: withConfig(repository.dir, odd), id: 'org/m', task: repository.task }),
  ).rejects.toThrow("config.json: a width of 5 can't be parted into 4 heads");
});
