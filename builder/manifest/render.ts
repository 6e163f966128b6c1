import { stringify } from 'yaml';
import { composeDocument } from './compose.js';
import { knativeDocuments } from './knative.js';
import { kubernetesDocuments } from './kubernetes.js';
import type { JsonObject } from './pod.js';
import { quadletUnit } from './quadlet.js';
import type { Format, ManifestSettings } from './settings.js';

export interface Rendered {
  /** The file for the tool. */
  text: string;
  /** The same as data; empty for unit files. */
  documents: JsonObject[];
  /** Other steps for the operator, a line each. */
  notes: string[];
}

/** Pure. The result holds no secrets, only names of their files. */
export function renderManifest(format: Format, settings: ManifestSettings): Rendered {
  const { documents, unit } = contentOf(format, settings);
  const notes = [...secretNotes(format, settings), ...adviceOf(format, settings)];
  const body =
    unit ??
    documents
      .map((document) => stringify(document, { lineWidth: 0 }))
      .join('---\n')
      .trimEnd();
  const comment = notes.map((note) => `# ${note}`).join('\n');
  return { text: `${comment}\n${body}`, documents, notes };
}

function contentOf(format: Format, settings: ManifestSettings): { documents: JsonObject[]; unit?: string } {
  if (format === 'kubernetes') return { documents: kubernetesDocuments(settings) };
  if (format === 'knative') return { documents: knativeDocuments(settings) };
  if (format === 'compose') return { documents: [composeDocument(settings)] };
  return { documents: [], unit: quadletUnit(settings) };
}

/** Says how to provide KEY: by a file, to keep it out of shell histories and process lists. */
function secretNotes(format: Format, { secret, namespace, hfToken, baked }: ManifestSettings): string[] {
  const where = namespace === undefined ? '' : ` --namespace ${namespace}`;
  const token = hfToken && !baked;
  if (format === 'quadlet')
    return ['key', ...(token ? ['hf-token'] : [])].map(
      (file) => `once, with the value in a file: podman secret create ${secret}-${file} ./${file}`,
    );
  if (format === 'compose')
    return [
      `beside this file: key${token ? ' and hf-token' : ''}, readable for user 1000 (any value serves as key)`,
    ];
  const files = `--from-file=key=./key${token ? ' --from-file=hf-token=./hf-token' : ''}`;
  return [`once, with the values in files: kubectl create secret generic ${secret}${where} ${files}`];
}

function adviceOf(format: Format, { memoryBytes, image, figures }: ManifestSettings): string[] {
  return [
    ...(memoryBytes === undefined
      ? ['no limit of memory: the image does not say what it takes; --memory sets one']
      : []),
    ...(figures?.basis === 'predicted' && memoryBytes !== undefined
      ? ['memory is predicted; "builder snapshot" measures it']
      : []),
    ...(format === 'knative'
      ? [
          'requests of more than 600 s need a larger max-revision-timeout-seconds in config-defaults of knative-serving',
        ]
      : []),
    ...(/\/.*\//.test(image) || format === 'compose' || format === 'quadlet'
      ? []
      : [`the cluster must be able to pull ${image}; --image gives its name in a registry`]),
  ];
}
