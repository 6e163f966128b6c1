import * as z from 'zod';
import { isModelId } from '../core/ids.js';
import { DTYPES, ENGINE_IDS, LARGEST_GRAPH, type ModelSpec, PROFILES } from '../core/spec.js';
import { TASK_IDS } from '../core/task-ids.js';
import { StoreError } from './errors.js';
import { networkFacts } from './network-file.js';
import { modelReaders } from './readers-file.js';
import { isSafePath } from './paths.js';

const path = z.string().refine(isSafePath, 'is not a path inside the repository');

/** What packing cost a network. */
export const packingLoss = z.object({
  likeness: z.number().min(-1).max(1),
  perplexity: z.object({ plain: z.number().min(1), packed: z.number().min(1) }).optional(),
});

/** One file of a repository, in listings and specs. */
export const repoFile = z.object({
  path,
  size: z.int().min(0),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'is not a SHA-256')
    .optional(),
  gitOid: z
    .string()
    .regex(/^[0-9a-f]{40}$/, 'is not a git object id')
    .optional(),
});

const writtenGraph = z.object({
  path,
  size: z.int().min(1).max(LARGEST_GRAPH),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'is not a SHA-256'),
  content: z.base64(),
});

const commit = z.string().regex(/^(?:[0-9a-f]{40,64}|local-[0-9a-f]{12})$/, 'is not a commit');
const modelId = z.string().refine(isModelId, 'is not a model id');

/** model.json. Keys are written in this order. */
const schema = z
  .object({
    specVersion: z.literal(1),
    id: modelId,
    revision: z.string().min(1),
    commit,
    task: z.enum(TASK_IDS),
    engine: z.enum(ENGINE_IDS),
    profile: z.enum(PROFILES),
    dtype: z.enum(DTYPES),
    architecture: z.string().optional(),
    modelType: z.string().optional(),
    license: z.string().optional(),
    graphs: z.record(z.string(), path),
    files: z.array(repoFile).min(1),
    base: z
      .object({
        ...{ id: modelId, revision: z.string().min(1), commit },
        ...{ files: z.array(path).min(1), folder: path.optional() },
      })
      .optional(),
    written: z.array(writtenGraph).min(1).optional(),
    network: networkFacts.optional(),
    readers: modelReaders.optional(),
    exported: z.object({ recipe: z.int().min(1), tools: z.record(z.string(), z.string()) }).optional(),
    ignoredConfig: z.array(z.string().min(1)).min(1).optional(),
    ...packingLoss.partial().shape,
  })
  .refine(
    ({ graphs, files, written = [], exported }) =>
      (exported && written.length === 0) ||
      Object.values(graphs).every((graph) => [...files, ...written].some(({ path }) => path === graph)),
    {
      path: ['graphs'],
      error: 'names a file that is neither in files nor in written',
    },
  ) satisfies z.ZodType<ModelSpec>;

/**
 * Reads model.json.
 * @throws StoreError that names the first invalid field
 */
export function parseSpec(text: string): ModelSpec {
  const remedy = 'write it again with builder plan or builder build';
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new StoreError('invalid', 'model.json is not valid JSON', { remedy, cause });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { path: field, message } = parsed.error.issues[0]!;
  throw new StoreError('invalid', `model.json: ${field.join('.') || 'the whole'}: ${message}`, { remedy });
}

/** Text of model.json; the same spec always gives the same bytes. @throws StoreError as parseSpec does */
export function formatSpec(spec: ModelSpec): string {
  const ordered = parseSpec(JSON.stringify(spec));
  const byName = <T>(a: [string, T], b: [string, T]) => (a[0] < b[0] ? -1 : 1);
  const graphs = Object.fromEntries(Object.entries(ordered.graphs).sort(byName));
  const files = [...ordered.files].sort((a, b) => (a.path < b.path ? -1 : 1));
  return `${JSON.stringify({ ...ordered, graphs, files }, null, 2)}\n`;
}
