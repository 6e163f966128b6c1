import { cacheName } from '../../runtime/onnx/exporter-names.js';
import type { Dtype, ModelInfo } from '../../runtime/core/spec.js';
import { type FileSelection, withExtra } from '../../runtime/store/choose-files.js';
import { externalFiles } from '../../runtime/store/external-files.js';
import type { ModelSource } from '../../runtime/store/source.js';
import type { NamedGraphs } from './export-manifest.js';
import { type GraphNotes, readGraphNotes } from './external.js';
import { requireFreeSizes } from './free-sizes.js';
import { Refusal } from './refusal.js';

export interface ToChooseNamed extends NamedGraphs {
  info: ModelInfo;
  /** Other files, as names or patterns; taken if they exist. */
  extra: readonly string[];
  /** Weight format that was asked for. */
  asked: Dtype | undefined;
}

/**
 * The files of graphs that an export.json names.
 * @returns notes with the names of caches that decoders are run by
 * @throws Refusal for graphs of one size; StoreError
 */
export async function chooseNamed(
  source: ModelSource,
  { info, extra, graphs, dtype, asked }: ToChooseNamed,
): Promise<{ choice: FileSelection; notes: GraphNotes }> {
  if (asked !== undefined && asked !== dtype)
    throw new Refusal(
      `${info.id} has no ${asked} weights: its export.json names ${dtype}`,
      'leave out --dtype',
    );
  const paths = Object.values(graphs);
  const { files } = info;
  const notes = await readGraphNotes({ source, ref: info, files, graphs: paths, shapes: true });
  for (const path of paths) requireFreeSizes(info.id, path, notes.inputs[path] ?? []);
  const own = files.filter(({ path }) => paths.includes(path));
  const weights = own.flatMap((graph) => externalFiles(graph, files, notes.external));
  const choice: FileSelection = {
    ...{ dtype, graphs, reason: `dtype ${dtype}: the graphs that export.json names` },
    files: withExtra([...own, ...weights], { info, extra }),
  };
  return { choice, notes: { ...notes, ports: Object.fromEntries(Object.entries(notes.ports).map(renamed)) } };
}

const renamed = ([path, { inputs, outputs }]: [string, GraphNotes['ports'][string]]) =>
  [
    path,
    {
      inputs: inputs.map((name) => cacheName(name, 'input')),
      outputs: outputs.map((name) => cacheName(name, 'output')),
    },
  ] as const;
