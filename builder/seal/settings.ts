import { LABEL } from '../images/labels.js';

/** How containers of an image run, from its configuration, independent of the engine. */
export type ContainerSettings = Record<string, unknown>;

/** Fields that engines set while building (parent id, name of the build container); they have no effect. */
const STAMPED: ReadonlySet<string> = new Set(['Image', 'Hostname', 'Domainname']);

/**
 * Normalizes settings for comparison: all fields with a value, known or not, and all labels except the manifest's own
 * hash.
 */
export function sealedSettings(config: ContainerSettings): ContainerSettings {
  const { Labels, ...rest } = config;
  const { [LABEL.manifest]: _, ...labels } = (Labels ?? {}) as ContainerSettings;
  const said = Object.entries({ ...rest, Labels: labels }).filter(
    ([name, value]) => !STAMPED.has(name) && hasValue(value),
  );
  return inOrder(Object.fromEntries(said)) as ContainerSettings;
}

/** The settings with additional labels. */
export function withLabels(
  config: ContainerSettings,
  labels: readonly (readonly [string, string])[],
): ContainerSettings {
  return {
    ...config,
    Labels: { ...(config['Labels'] as ContainerSettings | undefined), ...Object.fromEntries(labels) },
  };
}

/** False for unset values, which engines write as null, empty or false. */
function hasValue(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return value !== null && value !== undefined && value !== '' && value !== false && value !== 0;
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, inner]) => [name, inOrder(inner)]));
}
