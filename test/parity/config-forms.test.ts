import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Head } from '../../runtime/core/handles/index.js';
import { parsePythonJson } from '../../runtime/core/python-json.js';
import { familyOf } from '../../runtime/models/registry.js';
import { folderSource } from '../../runtime/store/folder.js';
import { rangesOf } from '../../runtime/store/source.js';
import { readWeightIndex, type WeightIndex } from '../../runtime/weights/index.js';
import { graphModel } from '../fakes/drawn-weights.js';
import { graphsDigest } from './config-fixtures.js';

type Config = Record<string, unknown>;

const FIXTURES = join(import.meta.dirname, '../fixtures');

/** config.json of reference models as transformers 5 saves it (scripts/fixtures/config_v5.py). */
const forms = parsePythonJson(readFileSync(join(FIXTURES, 'config-v5.json'), 'utf8')) as Record<
  string,
  Config
>;

const folderOf = (name: string): string => {
  const [root, ...rest] = name.split('/');
  return root === 'graph-models' ? graphModel(rest.join('/')) : join(FIXTURES, name, 'repo');
};

/**
 * Networks that version 5 computes in another way than version 4: scores and positions of long texts, norms of groups,
 * experts of other groups.
 */
const COMPUTED_ANEW = new Set(
  [
    'deepseek-v2-groups',
    'deepseek-v3',
    'glm4-moe',
    'bamba',
    'mamba2',
    'granite-mamba',
    'granite-mamba-states',
    'phimoe',
  ].map((name) => `graph-models/${name}`),
);

/** Digest of all graphs of a head, or what is in the way of them. */
function written(config: Config, index: WeightIndex, head: Head): string {
  const found = graphsDigest(config, index, head);
  return typeof found === 'string' ? found : found.message;
}

/** Graphs of a reference model by head: of its own configuration, of one that version 5 saved, and of that one with another number. */
async function graphsOf(name: string) {
  const dir = folderOf(name);
  const source = folderSource(dir);
  const index = await readWeightIndex(rangesOf(source, await source.info('config/form')));
  const old = parsePythonJson(readFileSync(join(dir, 'config.json'), 'utf8'));
  const heads = Object.keys(familyOf(old['model_type'] as string)!.heads) as Head[];
  const of = (config: Config) => heads.map((head) => [head, written(config, index, head)]);
  const form = forms[name]!;
  const { transformers_version: version = null } = old;
  return { own: of(old), new: of(form), renumbered: of({ ...form, transformers_version: version }) };
}

describe('config.json as transformers 5 writes it gives the graphs of the same file as transformers 4 wrote it', () => {
  test.each(Object.keys(forms).filter((name) => !COMPUTED_ANEW.has(name)))('%s', async (name) => {
    const graphs = await graphsOf(name);
    expect(graphs.new).toEqual(graphs.own);
  });

  test.each([...COMPUTED_ANEW])('%s, but for what version 5 computes in another way', async (name) => {
    const graphs = await graphsOf(name);
    expect(graphs.new).not.toEqual(graphs.own);
    expect(graphs.renumbered).toEqual(graphs.own);
  });
});
