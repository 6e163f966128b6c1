import * as z from 'zod';
import type { Head } from '../../runtime/core/handles/index.js';
import type { Dtype, ModelInfo } from '../../runtime/core/spec.js';
import type { ModelSource } from '../../runtime/store/source.js';
import type { AnyBinding } from './choose-engine.js';
import { parseObject } from './facts.js';
import { EXPORT_AGAIN } from './free-sizes.js';
import { Refusal } from './refusal.js';

/** What transformers' exporters write beside the programs that they make. */
const MANIFEST = 'export.json';
const SCHEMA = 1;

const manifestSchema = z.object({
  schema_version: z.int().default(SCHEMA),
  export_format: z.string(),
  components: z.record(
    z.string(),
    z.object({ file: z.string(), metadata: z.object({ export_dtype: z.string().optional() }).optional() }),
  ),
});

type Manifest = z.infer<typeof manifestSchema>;

/** Graphs that a manifest names, by the roles that a task loads them in. */
export interface NamedGraphs {
  dtype: Dtype;
  graphs: Record<string, string>;
}

const DTYPES: Readonly<Record<string, Dtype>> = { float32: 'fp32', float16: 'fp16' };

/**
 * The graphs of a repository that transformers' exporter wrote, by its export.json; undefined where there is none, or
 * where it is of another format and the repository has graphs beside it.
 * @throws Refusal for a manifest that can't be read or served; StoreError when the source fails
 */
export async function namedGraphs(
  source: ModelSource,
  info: ModelInfo,
  binding: AnyBinding,
): Promise<NamedGraphs | undefined> {
  if (!info.files.some(({ path }) => path === MANIFEST)) return undefined;
  const manifest = parseManifest(info.id, await source.readText(info, MANIFEST));
  if (manifest.export_format !== 'onnx') {
    if (info.files.some(({ path }) => path.endsWith('.onnx'))) return undefined;
    throw new Refusal(
      `${info.id} is an export for ${manifest.export_format}, which is not served`,
      EXPORT_AGAIN,
    );
  }
  const components = Object.entries(manifest.components).map(([name, { file }]) => [name, file] as const);
  const graphs = inRoles(new Map(components), binding);
  if (!graphs) throw otherComponents(info.id, manifest, binding);
  for (const file of Object.values(graphs)) requireGraphFile(info, file);
  return { graphs, dtype: dtypeOf(info.id, manifest) };
}

function parseManifest(id: string, text: string | undefined): Manifest {
  const { data, error } = manifestSchema.safeParse(parseObject(MANIFEST, text));
  if (!data)
    throw new Refusal(
      `${id}: ${MANIFEST} is not as transformers writes it: ${z.prettifyError(error)}`,
      EXPORT_AGAIN,
    );
  if (data.schema_version === SCHEMA) return data;
  throw new Refusal(
    `${id}: ${MANIFEST} is of schema ${data.schema_version}; ${SCHEMA} is known`,
    'take a newer version of the builder, or an export by transformers 5.24',
  );
}

/** The step of a decoder is its graph: it reads a prompt, too, behind an empty cache. */
function inRoles(
  components: ReadonlyMap<string, string>,
  { graphs, otherGraphs = [], head }: AnyBinding,
): Record<string, string> | undefined {
  const set = [graphs, ...otherGraphs].find((roles) => roles.every((role) => components.has(role)));
  if (set) return Object.fromEntries(set.map((role) => [role, components.get(role)!]));
  const step = hasSteps(head) ? components.get('decode') : undefined;
  return step === undefined ? undefined : { model: step };
}

const hasSteps = (head: Head): boolean => head === 'causal-lm';

function otherComponents(id: string, { components }: Manifest, { graphs, head }: AnyBinding): Refusal {
  const names = Object.keys(components).join(', ') || 'nothing';
  const wanted = hasSteps(head) ? 'decode' : graphs.join(', ');
  return new Refusal(`${id}: ${MANIFEST} has ${names}, not ${wanted}`, EXPORT_AGAIN);
}

function requireGraphFile({ id, files }: ModelInfo, name: string): void {
  if (name.endsWith('.onnx') && files.some(({ path }) => path === name)) return;
  throw new Refusal(
    `${id}: ${MANIFEST} names ${JSON.stringify(name)}, which is no graph of the repository`,
    'the upload is incomplete: take another revision or repository',
  );
}

function dtypeOf(id: string, { components }: Manifest): Dtype {
  const names = new Set(Object.values(components).map(({ metadata }) => metadata?.export_dtype ?? 'float32'));
  const [name] = names;
  const dtype = names.size === 1 ? DTYPES[name!] : undefined;
  if (dtype) return dtype;
  throw new Refusal(
    `${id}: its graphs were exported in ${[...names].join(' and ')}, which is not served`,
    EXPORT_AGAIN,
  );
}
