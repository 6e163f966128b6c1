import { createHash } from 'node:crypto';

/** Leaves space for suffixes of revisions and pods; a DNS label has 63 characters. */
const MAX_NAME_LENGTH = 52;
const LONGEST_LABEL = 63;

/**
 * The DNS label of a model in clusters: lower case, with `--` for `/`. If characters are lost (dots, underscores, length),
 * a hash of the id makes it unique.
 */
export function dnsName(modelId: string): string {
  const id = modelId.toLowerCase();
  const plain = id
    .replace('/', '--')
    .replace(/[^a-z0-9-]/g, '-')
    .replace(/^-+|-+$/g, '');
  // Names of Services may not start with a digit.
  const name = /^[a-z]/.test(plain) ? plain : `m-${plain}`;
  const faithful = name.replace('--', '/') === id || name === id;
  return faithful && name.length <= MAX_NAME_LENGTH ? name : withHash(name, { id, longest: MAX_NAME_LENGTH });
}

/** A model id as a label value, which can't hold `/`; an annotation has the exact id. */
export function labelValue(modelId: string): string {
  const value = modelId
    .replace('/', '_')
    .replace(/[^A-Za-z0-9]+$/, '')
    .replace(/^[^A-Za-z0-9]+/, '');
  const faithful = value.length === modelId.length && value.length <= LONGEST_LABEL;
  return faithful ? value : withHash(value, { id: modelId, longest: LONGEST_LABEL });
}

function withHash(text: string, { id, longest }: { id: string; longest: number }): string {
  const hash = createHash('sha256').update(id).digest('hex').slice(0, 6);
  return `${text.slice(0, longest - 7).replace(/[^A-Za-z0-9]+$/, '')}-${hash}`;
}

/** True for a valid name of a Service, namespace or Secret: an RFC 1035 label. */
export function isDnsLabel(text: string): boolean {
  return /^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(text);
}
