/** The pickle ends where an argument should be, or an argument is none. */
export class PickleEnd extends Error {
  override name = 'PickleEnd';
}

/** The bytes of a pickle, one after the other. Every method throws PickleEnd. */
export class PickleBytes {
  private at = 0;
  private readonly utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

  constructor(
    private readonly bytes: Buffer,
    from = 0,
  ) {
    this.at = from;
  }

  /** Of the next byte. */
  get position(): number {
    return this.at;
  }

  get atEnd(): boolean {
    return this.at === this.bytes.length;
  }

  byte(): number {
    return this.take(1)[0]!;
  }

  /** Little-endian; up to 2^53. */
  unsigned(length: 1 | 2 | 4 | 8): number {
    const bytes = this.take(length);
    const value = length === 8 ? Number(bytes.readBigUInt64LE(0)) : bytes.readUIntLE(0, length);
    return safe(value);
  }

  /** Little-endian, in two's complement; no bytes are zero. */
  signed(length: number): number {
    const bytes = this.take(length);
    if (length > 8) throw new PickleEnd();
    const value = bytes.reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n);
    return safe(Number(BigInt.asIntN(8 * length, value)));
  }

  text(length: number): string {
    const bytes = this.take(length);
    try {
      return this.utf8.decode(bytes);
    } catch {
      throw new PickleEnd();
    }
  }

  /** Text up to a line feed, which is dropped. */
  line(): string {
    const end = this.bytes.indexOf(0x0a, this.at);
    if (end < 0) throw new PickleEnd();
    const text = this.text(end - this.at);
    this.at++;
    return text;
  }

  private take(length: number): Buffer {
    const start = this.at;
    if (start + length > this.bytes.length) throw new PickleEnd();
    this.at += length;
    return this.bytes.subarray(start, this.at);
  }
}

function safe(value: number): number {
  if (!Number.isSafeInteger(value)) throw new PickleEnd();
  return value;
}
