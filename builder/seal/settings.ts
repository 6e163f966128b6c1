import { LABEL } from '../images/labels.js';

/** What an image's configuration says of how containers of it run, in one form whatever engine has told it. */
export type ContainerSettings = Record<string, unknown>;

/** Stamped by engines while they build: the parent's id and the building container's name. They change no container. */
const STAMPED: ReadonlySet<string> = new Set(['Image', 'Hostname', 'Domainname']);

/**
 * The form in which settings are recorded and compared: every field that says something, known here or not, and all
 * labels but the record's own hash, which the record can't hold.
 */
export function sealedSettings(config: ContainerSettings): ContainerSettings {
  const { Labels, ...rest } = config;
  const { [LABEL.manifest]: _, ...labels } = (Labels ?? {}) as ContainerSettings;
  const said = Object.entries({ ...rest, Labels: labels }).filter(
    ([name, value]) => !STAMPED.has(name) && saysSomething(value),
  );
  return inOrder(Object.fromEntries(said)) as ContainerSettings;
}

/** The settings of an image with more labels. */
export function withLabels(
  config: ContainerSettings,
  labels: readonly (readonly [string, string])[],
): ContainerSettings {
  return {
    ...config,
    Labels: { ...(config['Labels'] as ContainerSettings | undefined), ...Object.fromEntries(labels) },
  };
}

/** Engines write what is not set as null, empty or false, or leave it out. */
function saysSomething(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return value !== null && value !== undefined && value !== '' && value !== false && value !== 0;
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, inner]) => [name, inOrder(inner)]));
}
