import { megabytes } from '../report.js';
import type { ToExport } from './plan-export.js';
import type { ToolVersions } from './types.js';

/** `transformers 5.24.0 with torch 2.15.0, …` */
export function toolText({ transformers, ...others }: ToolVersions): string {
  const rest = Object.entries(others).map(([name, version]) => `${name} ${version}`);
  return `transformers ${transformers} with ${rest.join(', ')}`;
}

const [FLOAT, BASE_BYTES] = [4, 0.65e9];
/** On one core, in all and for each layer. */
const [SECONDS, LAYER_SECONDS] = [15, 5];

/** What a plan says of an export, one sentence each. */
export function exportedReasons({ versions, known, parameters, layers }: ToExport): string[] {
  const minutes = Math.max(1, Math.round((SECONDS + LAYER_SECONDS * layers) / 60));
  const memory = megabytes(BASE_BYTES + 2 * FLOAT * parameters);
  return [
    `graph: exported by ${toolText(versions)}, since none can be written`,
    `export: takes about ${memory} of memory and ${minutes} min of a core, once; the image has no Python`,
    ...(known ? [] : ['export: this type is untried; the graph is compared with torch before it is served']),
  ];
}
