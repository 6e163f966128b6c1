import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parsePythonJson } from '../../runtime/core/python-json.js';
import { architectureOf } from '../../runtime/graphs/registry.js';
import { graphModel, graphModels } from '../fakes/drawn-weights.js';

const FIXTURES = join(import.meta.dirname, '../fixtures');

/** A reference model over PyTorch weights. */
export interface ConfigFixture {
  name: string;
  /** Folder of its files. */
  dir: string;
  config: Record<string, unknown>;
}

function zooDirs(): [string, string][] {
  return readdirSync(join(FIXTURES, 'zoo-weights')).flatMap((task) =>
    readdirSync(join(FIXTURES, 'zoo-weights', task)).map((name): [string, string] => [
      `zoo-weights/${task}/${name}`,
      join(FIXTURES, 'zoo-weights', task, name, 'repo'),
    ]),
  );
}

/** Those of types that transformers has, whose graphs are written here. */
export function configFixtures(): ConfigFixture[] {
  const graphs = graphModels().map((name): [string, string] => [`graph-models/${name}`, graphModel(name)]);
  return [...graphs, ...zooDirs()].flatMap(([name, dir]) => {
    let text: string;
    try {
      text = readFileSync(join(dir, 'config.json'), 'utf8');
    } catch {
      return []; // a pipeline has a configuration for each of its networks
    }
    const config = parsePythonJson(text);
    return architectureOf(config['model_type'] as string) ? [{ name, dir, config }] : [];
  });
}
