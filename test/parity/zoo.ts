import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** One request of a reference model, with the answer of the Python library. */
export interface ZooCase {
  name: string;
  request: Record<string, unknown>;
  expect: unknown;
  expect_error?: boolean;
  compare: { kind: 'json'; atol?: number; rtol?: number };
  why: string;
}

export interface ZooModel {
  task: string;
  name: string;
  /** Folder in hub layout. */
  repo: string;
  about: { id: string; pipeline_tag: string; library_name: string; tags: string[] };
  cases: ZooCase[];
}

const FIXTURES = join(import.meta.dirname, '..', 'fixtures');

/** Reference models that were given to us, and those that scripts/fixtures/zoo_own.py makes. */
const ROOTS = ['zoo', 'zoo-own'];

/** Every reference model of the fixtures. */
export async function zooModels(): Promise<ZooModel[]> {
  const models: ZooModel[] = [];
  for (const root of ROOTS) {
    for (const task of (await readdir(join(FIXTURES, root))).sort()) {
      const names = await readdir(join(FIXTURES, root, task));
      for (const name of names.sort()) models.push(await zooModel(task, name, root));
    }
  }
  return models;
}

export async function zooModel(task: string, name: string, root = 'zoo'): Promise<ZooModel> {
  const dir = join(FIXTURES, root, task, name);
  const json = async <T>(file: string) => JSON.parse(await readFile(join(dir, file), 'utf8')) as T;
  const cases = await json<ZooCase[]>('cases.json');
  for (const zooCase of cases)
    zooCase.request = (await withFiles(dir, zooCase.request)) as ZooCase['request'];
  return { task, name, repo: join(dir, 'repo'), about: await json<ZooModel['about']>('about.json'), cases };
}

/** Replaces {"$file": path} by the data URL of that file. */
async function withFiles(dir: string, value: unknown): Promise<unknown> {
  if (typeof value !== 'object' || value === null) return value;
  if ('$file' in value) {
    const file = String(value.$file);
    const type = file.endsWith('.png') ? 'image/png' : 'image/jpeg';
    return `data:${type};base64,${(await readFile(join(dir, file))).toString('base64')}`;
  }
  if (Array.isArray(value)) return Promise.all(value.map((item) => withFiles(dir, item)));
  const entries = Object.entries(value).map(
    async ([key, item]) => [key, await withFiles(dir, item)] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}

/** Where an answer differs from the expected one: numbers within the tolerance, all else equal, extra keys allowed. */
export function difference(
  actual: unknown,
  expected: unknown,
  compare: ZooCase['compare'],
  path = '$',
): string | null {
  if (typeof expected === 'number' && typeof actual === 'number') {
    const allowed = (compare.atol ?? 0) + (compare.rtol ?? 0) * Math.abs(expected);
    return Math.abs(actual - expected) <= allowed
      ? null
      : `${path}: ${actual}, expected ${expected} ± ${allowed}`;
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) {
      return `${path}: ${JSON.stringify(actual)?.slice(0, 300)}, expected ${expected.length} items`;
    }
    return firstOf(expected.map((item, i) => difference(actual[i], item, compare, `${path}[${i}]`)));
  }
  if (typeof expected === 'object' && expected !== null) {
    const given = (actual ?? {}) as Record<string, unknown>;
    return firstOf(
      Object.entries(expected).map(([key, item]) => difference(given[key], item, compare, `${path}.${key}`)),
    );
  }
  return actual === expected
    ? null
    : `${path}: ${JSON.stringify(actual)}, expected ${JSON.stringify(expected)}`;
}

function firstOf(found: (string | null)[]): string | null {
  return found.find((item) => item !== null) ?? null;
}
