import { hash, randomBytes } from 'node:crypto';
import { followFile } from '../follow-file.js';
import { type OwnLimits, withLimits } from '../limits/own-limits.js';
import { changeKeys, readKeys, type StoredKey } from './key-file.js';

/** The known API keys. */
export interface Keys {
  /** The key's record, or undefined for an unknown key. Takes the same time for all keys of one length. */
  find(secret: string): StoredKey | undefined;
  list(): readonly StoredKey[];
  /** Changes the file of the keys, and takes the change over at once. Absent where they have no file. */
  change?(change: (keys: readonly StoredKey[]) => readonly StoredKey[]): Promise<void>;
  close(): void;
}

export function hashKey(secret: string): string {
  return hash('sha256', secret);
}

/** Makes a key and its record. The key itself is stored nowhere. */
export function newKey(name: string, now: Date, own: OwnLimits = {}): { secret: string; record: StoredKey } {
  const secret = `slw_${randomBytes(32).toString('base64url')}`;
  const record: StoredKey = {
    id: randomBytes(6).toString('hex'),
    name,
    hash: hashKey(secret),
    created: now.toISOString(),
  };
  return { secret, record: withLimits(record, own) };
}

export function fixedKeys(records: readonly StoredKey[]): Keys {
  const known = new Map(records.map((record) => [record.hash, record]));
  return { find: (secret) => known.get(hashKey(secret)), list: () => records, close: () => {} };
}

/** A change of the key file while the gateway runs. */
export interface KeyChange {
  change: 'created' | 'revoked' | 'limits-set';
  id: string;
  name: string;
  /** Those that it has for itself now. */
  limits?: OwnLimits | undefined;
}

export interface KeyFileOptions {
  log: (line: string) => void;
  onChange?: (change: KeyChange) => void;
}

/** Keys that follow their file: a revoked key stops working within seconds, and changed limits hold. */
export async function fileKeys(file: string, { log, onChange = () => {} }: KeyFileOptions): Promise<Keys> {
  let records = await readKeys(file);
  if (records.length === 0)
    log(`${file} has no keys, so nobody may call; "gateway keys create --keys ${file}" makes one`);
  let keys = fixedKeys(records);
  const readAgain = async () => {
    const before = records;
    records = await readKeys(file);
    keys = fixedKeys(records);
    for (const key of without(records, before)) onChange({ change: 'created', ...key });
    for (const key of without(before, records)) onChange({ change: 'revoked', ...key });
    for (const key of otherLimits(records, before)) onChange({ change: 'limits-set', ...key });
  };
  let tail = Promise.resolve();
  // One after the other: two at once would tell each change twice.
  const reload = () => (tail = tail.catch(() => {}).then(readAgain));
  const close = followFile(file, reload, { log, after: 'the keys that were there stay' });
  return {
    find: (secret) => keys.find(secret),
    list: () => records,
    async change(change) {
      await changeKeys(file, change);
      await reload();
    },
    close,
  };
}

/** The keys that are not among the others, by id and hash. */
function without(keys: readonly StoredKey[], others: readonly StoredKey[]): Omit<KeyChange, 'change'>[] {
  const known = new Set(others.map(({ id, hash }) => `${id} ${hash}`));
  return keys.filter(({ id, hash }) => !known.has(`${id} ${hash}`)).map(told);
}

/** The keys that were there before with other limits. */
function otherLimits(keys: readonly StoredKey[], before: readonly StoredKey[]) {
  const known = new Map(before.map(({ id, hash, limits }) => [`${id} ${hash}`, JSON.stringify(limits)]));
  return keys
    .filter(({ id, hash, limits }) => {
      const name = `${id} ${hash}`;
      return known.has(name) && known.get(name) !== JSON.stringify(limits);
    })
    .map(told);
}

/** What may be told of a key: never its hash. */
const told = ({ id, name, limits }: StoredKey): Omit<KeyChange, 'change'> => ({
  ...{ id, name },
  ...(limits && { limits }),
});
