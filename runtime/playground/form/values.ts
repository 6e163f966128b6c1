import type { Described, Json } from '../api/describe.js';

/** What a call is made of. */
export interface Values {
  input: Record<string, Json>;
  /** Only those that were changed. */
  params: Record<string, Json>;
}

/** Files are too long for an address. */
const IN_ADDRESS = 8000;

/** The values of a shared address, else those of the task's example, without media that live elsewhere. */
export function firstValues(described: Described, hash: string): Values {
  const shared = fromHash(hash);
  if (shared) return shared;
  const { params = {}, url: _, messages, ...input } = described.example;
  return { input: messages === undefined ? input : {}, params: params as Values['params'] };
}

/** The part of an address behind `#` that brings these values back. */
export function toHash({ input, params }: Values): string {
  const short = Object.entries(input).filter(([name]) => name !== 'base64');
  const text = encodeURIComponent(JSON.stringify({ input: Object.fromEntries(short), params }));
  return text.length > IN_ADDRESS ? '' : `#${text}`;
}

function fromHash(hash: string): Values | undefined {
  if (hash.length < 2) return undefined;
  try {
    const { input, params } = JSON.parse(decodeURIComponent(hash.slice(1))) as Partial<Values>;
    return isRecord(input) && isRecord(params) ? { input, params } : undefined;
  } catch {
    return undefined;
  }
}

const isRecord = (value: unknown): value is Record<string, Json> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The body of the call, without empty fields. */
export function bodyOf({ input, params }: Values): Record<string, Json> {
  const given = Object.entries(input).filter(([, value]) => value !== '' && value !== undefined);
  return { ...Object.fromEntries(given), ...(Object.keys(params).length > 0 ? { params } : {}) };
}

/** Names of required fields that are empty. */
export function missingFields(described: Described, body: Record<string, Json>): string[] {
  const isEmpty = (name: string) => {
    const value = body[name];
    return value === undefined || (Array.isArray(value) && value.length === 0);
  };
  const needsMedium = described.fields.some(({ name }) => name === 'base64');
  const missing = described.fields
    .filter(({ name, required }) => required && isEmpty(name))
    .map(({ name }) => name);
  return needsMedium && isEmpty('url') && isEmpty('base64') ? ['a file or its address', ...missing] : missing;
}
