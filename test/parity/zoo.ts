import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Compare, ExpectedMedia } from './difference.js';
import { readNpy } from './npy.js';

/** One request of a reference model, with the answer of the Python library. */
export interface ZooCase {
  name: string;
  request: Record<string, unknown>;
  expect: unknown;
  expect_error?: boolean;
  compare: Compare;
  why: string;
}

export interface ZooModel {
  task: string;
  name: string;
  /** Its fixture. */
  dir: string;
  /** Folder in hub layout. */
  repo: string;
  about: { id: string; pipeline_tag: string; library_name: string; tags: string[] };
  cases: ZooCase[];
}

export const FIXTURES = join(import.meta.dirname, '..', 'fixtures');

/** Reference models that were given to us, and those that scripts/fixtures/zoo_own.py makes. */
const ROOTS = ['zoo', 'zoo-own'];

/** Reference models whose repositories have PyTorch weights and no ONNX. */
export const PYTORCH_ONLY = 'zoo-weights';

export const ALL_ROOTS = [...ROOTS, PYTORCH_ONLY];

/** Where a reference model lies. */
export interface ModelPlace {
  task: string;
  name: string;
  /** Folder of the fixtures that it is in. */
  root: string;
  dir: string;
}

/** Reference models whose repositories transformers 5 wrote. */
export const TRANSFORMERS_5 = 'zoo-v5';

/** Reference models of types that no graph can be written for, with graphs that transformers' exporter made. */
export const EXPORTED = 'zoo-exported';

/** Reference models in files of GGUF, with towers beside them. */
export const GGUF = 'zoo-gguf';

/** Every reference model of the fixtures, by default those with ONNX exports. @param roots folders there, or elsewhere */
export async function zooPlaces(roots: readonly string[] = ROOTS): Promise<ModelPlace[]> {
  const places: ModelPlace[] = [];
  for (const root of roots) {
    for (const task of (await readdir(resolve(FIXTURES, root))).sort()) {
      for (const name of await zooNames(task, root))
        places.push({ task, name, root, dir: resolve(FIXTURES, root, task, name) });
    }
  }
  return places;
}

/** The same with their cases. */
export async function zooModels(roots: readonly string[] = ROOTS): Promise<ZooModel[]> {
  return Promise.all((await zooPlaces(roots)).map(modelAt));
}

/** A reference model with its cases. */
export const modelAt = ({ task, name, root }: ModelPlace): Promise<ZooModel> => zooModel(task, name, root);

/** Names of a task's models, sorted. */
export async function zooNames(task: string, root = 'zoo'): Promise<string[]> {
  return (await readdir(resolve(FIXTURES, root, task))).sort();
}

export async function zooModel(task: string, name: string, root = 'zoo'): Promise<ZooModel> {
  const dir = resolve(FIXTURES, root, task, name);
  const json = async <T>(file: string) => JSON.parse(await readFile(join(dir, file), 'utf8')) as T;
  const cases = await json<ZooCase[]>('cases.json');
  for (const zooCase of cases) {
    zooCase.request = (await withFiles(dir, zooCase.request, dataUrl)) as ZooCase['request'];
    zooCase.expect = await withFiles(
      dir,
      zooCase.expect,
      async (file) => new ExpectedMedia(await readFile(file)),
    );
  }
  const about = await json<ZooModel['about']>('about.json');
  return { task, name, dir, repo: join(dir, 'repo'), about, cases };
}

async function dataUrl(file: string): Promise<string> {
  const type = file.endsWith('.png') ? 'image/png' : 'image/jpeg';
  return `data:${type};base64,${(await readFile(file)).toString('base64')}`;
}

/** Replaces {"$file": path} by what `read` makes of that file, and {"$npy": path} by the numbers of that one. */
async function withFiles(
  dir: string,
  value: unknown,
  read: (file: string) => Promise<unknown>,
): Promise<unknown> {
  if (typeof value !== 'object' || value === null) return value;
  if ('$file' in value) return read(join(dir, String(value.$file)));
  if ('$npy' in value) return readNpy(join(dir, String(value.$npy)));
  if (Array.isArray(value)) return Promise.all(value.map((item) => withFiles(dir, item, read)));
  const entries = Object.entries(value).map(
    async ([key, item]) => [key, await withFiles(dir, item, read)] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}
