import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { forecastFormats } from '../../builder/plan/forecast.js';
import { planModel } from '../../builder/plan/index.js';
import { Refusal } from '../../builder/plan/refusal.js';
import type { Head } from '../../runtime/core/handles/index.js';
import { parsePythonJson } from '../../runtime/core/python-json.js';
import { familyOf } from '../../runtime/models/registry.js';
import { kindOf } from '../../runtime/models/write-graphs.js';
import { folderSource } from '../../runtime/store/folder.js';
import { rangesOf } from '../../runtime/store/source.js';
import { readWeightIndex } from '../../runtime/weights/index.js';
import { graphModel, graphModels } from '../fakes/drawn-weights.js';
import { graphsDigest } from './config-fixtures.js';
import { ALL_ROOTS, TRANSFORMERS_5, zooPlaces } from './zoo.js';

// A change of the house must not change what is written or predicted: every difference is seen in a review, and
// accepted by `jest --updateSnapshot` together with its reason.

const short = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);

/** A digest of each head's graphs, or what is in the way of them. */
async function digestsOf(dir: string): Promise<Record<string, string>> {
  const config = parsePythonJson(readFileSync(join(dir, 'config.json'), 'utf8'));
  const family = familyOf(kindOf(config));
  if (!family) return {};
  const source = folderSource(dir);
  const index = await readWeightIndex(rangesOf(source, await source.info('a/model')));
  return Object.fromEntries(
    Object.keys(family.heads).map((head) => {
      const found = graphsDigest(config, index, head as Head);
      return [head, typeof found === 'string' ? found.slice(0, 12) : found.message];
    }),
  );
}

/** What the plan decides and predicts; a digest stands for the files and the graphs of all formats. */
async function planOf(repo: string, task: string): Promise<string[]> {
  try {
    const plan = await planModel({ source: folderSource(repo), id: 'a/model', task });
    const { facts, formats, reasons, parameters, spec } = plan;
    return [
      `${spec.task} ${spec.engine} ${parameters ?? '-'} files ${short(JSON.stringify(formats.map((format) => ({ ...format, network: undefined, readers: undefined }))))}`,
      ...reasons.filter((reason) => !reason.startsWith('tools:')),
      ...forecastFormats({ formats, facts }, 2).map((forecast) => JSON.stringify(forecast)),
    ];
  } catch (error) {
    if (error instanceof Refusal) return [error.message.replaceAll(repo, 'FOLDER')];
    throw error;
  }
}

test.each(graphModels())('graphs of %s', async (name) => {
  expect(await digestsOf(graphModel(name))).toMatchSnapshot();
});

const places = await zooPlaces([...ALL_ROOTS, TRANSFORMERS_5]);

test.each(places.map(({ root, task, name, dir }) => [`${root}/${task}/${name}`, task, dir] as const))(
  'plan of %s',
  async (_, task, dir) => {
    const plan = await planOf(join(dir, 'repo'), task);
    expect(plan).toMatchSnapshot();
    // Of what transformers 5 writes each fixture is served: a refusal in the snapshot would go unseen.
    if (dir.includes(TRANSFORMERS_5)) expect(plan.length).toBeGreaterThan(1);
  },
);
