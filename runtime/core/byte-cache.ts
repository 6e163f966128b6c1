export interface ByteCache<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
}

/** Keeps what was used last, as far as it has room. @param bytesOf what an entry takes */
export function createByteCache<Value>(
  maxBytes: number,
  bytesOf: (key: string, value: Value) => number,
): ByteCache<Value> {
  /** The one that was used last is the last. */
  const entries = new Map<string, Value>();
  let bytes = 0;
  const drop = (key: string) => {
    const value = entries.get(key);
    if (value !== undefined) bytes -= bytesOf(key, value);
    entries.delete(key);
  };
  return {
    get(key) {
      const value = entries.get(key);
      if (value !== undefined && entries.delete(key)) entries.set(key, value);
      return value;
    },
    set(key, value) {
      drop(key);
      entries.set(key, value);
      bytes += bytesOf(key, value);
      for (const oldest of entries.keys()) {
        if (bytes <= maxBytes) return;
        drop(oldest);
      }
    },
  };
}
