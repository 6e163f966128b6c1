import { createHash } from 'node:crypto';

/** Room for what clusters put behind a name: revisions and pods. A DNS label has 63 characters. */
const LONGEST_NAME = 52;
const LONGEST_LABEL = 63;

/**
 * The DNS label by which a model goes in clusters: lower case, `/` as `--`, which no id holds itself. Where that loses
 * something (dots, underscores, length), a hash of the id keeps two models apart.
 */
export function dnsName(modelId: string): string {
  const id = modelId.toLowerCase();
  const plain = id
    .replace('/', '--')
    .replace(/[^a-z0-9-]/g, '-')
    .replace(/^-+|-+$/g, '');
  // Services may not start with a digit.
  const name = /^[a-z]/.test(plain) ? plain : `m-${plain}`;
  const faithful = name.replace('--', '/') === id || name === id;
  return faithful && name.length <= LONGEST_NAME ? name : withHash(name, { id, longest: LONGEST_NAME });
}

/** A model id as the value of a label, which takes no `/`; the exact id stands in an annotation. */
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

/** True for what may name a Service, a namespace or a Secret here: an RFC 1035 label. */
export function isDnsLabel(text: string): boolean {
  return /^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(text);
}
