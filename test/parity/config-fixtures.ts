import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { quantizedIndex } from '../../builder/plan/quantized-index.js';
import type { Head } from '../../runtime/core/handles/index.js';
import { parsePythonJson } from '../../runtime/core/python-json.js';
import { GraphError } from '../../runtime/models/writer/errors.js';
import { familyOf } from '../../runtime/models/registry.js';
import { packedStorage } from '../../runtime/models/writer/storage.js';
import { writeGraphs } from '../../runtime/models/write-graphs.js';
import type { WeightIndex } from '../../runtime/weights/index.js';
import { graphModel, graphModels } from '../fakes/drawn-weights.js';

const FIXTURES = join(import.meta.dirname, '../fixtures');

/** A reference model over PyTorch weights. */
export interface ConfigFixture {
  name: string;
  /** Folder of its files. */
  dir: string;
  config: Record<string, unknown>;
}

function zooDirs(root: string): [string, string][] {
  return readdirSync(join(FIXTURES, root)).flatMap((task) =>
    readdirSync(join(FIXTURES, root, task)).map((name): [string, string] => [
      `${root}/${task}/${name}`,
      join(FIXTURES, root, task, name, 'repo'),
    ]),
  );
}

function fixturesIn(dirs: readonly (readonly [string, string])[]): ConfigFixture[] {
  return dirs.flatMap(([name, dir]) => {
    let text: string;
    try {
      text = readFileSync(join(dir, 'config.json'), 'utf8');
    } catch {
      return []; // a pipeline has a configuration for each of its networks
    }
    const config = parsePythonJson(text);
    return familyOf(config['model_type'] as string) ? [{ name, dir, config }] : [];
  });
}

const typeOf = ({ config }: ConfigFixture): unknown => config['model_type'];

/** Those whose graphs are written here; of what transformers 5 wrote the types that no other fixture has. */
export function configFixtures(): ConfigFixture[] {
  const graphs = graphModels().map((name): [string, string] => [`graph-models/${name}`, graphModel(name)]);
  const older = fixturesIn([...graphs, ...zooDirs('zoo-weights')]);
  const types = new Set(older.map(typeOf));
  return [...older, ...fixturesIn(zooDirs('zoo-v5')).filter((fixture) => !types.has(typeOf(fixture)))];
}

/** Digest of all graphs of a head, or the error that says what is in the way of them. */
export function graphsDigest(
  config: Record<string, unknown>,
  index: WeightIndex,
  head: Head,
): string | GraphError {
  const packed = quantizedIndex(index, config);
  try {
    const storage = packed && packedStorage('made.bin', undefined);
    const { graphs } = writeGraphs({ config, index: packed?.index ?? index, head, storage });
    const hash = createHash('sha256');
    for (const [role, bytes] of Object.entries(graphs)) hash.update(role).update(bytes);
    return hash.digest('hex');
  } catch (error) {
    if (error instanceof GraphError) return error;
    throw error;
  }
}
