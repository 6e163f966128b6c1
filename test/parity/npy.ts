import { readFile } from 'node:fs/promises';

const READERS: Record<string, { bytes: number; read(view: DataView, at: number): number }> = {
  '|b1': { bytes: 1, read: (view, at) => view.getUint8(at) },
  '|u1': { bytes: 1, read: (view, at) => view.getUint8(at) },
  '<i4': { bytes: 4, read: (view, at) => view.getInt32(at, true) },
  '<i8': { bytes: 8, read: (view, at) => Number(view.getBigInt64(at, true)) },
  '<f4': { bytes: 4, read: (view, at) => view.getFloat32(at, true) },
  '<f8': { bytes: 8, read: (view, at) => view.getFloat64(at, true) },
};

/** A NumPy file (format 1, rows first) as nested lists. */
export async function readNpy(file: string): Promise<unknown> {
  const bytes = await readFile(file);
  const start = 10 + bytes.readUInt16LE(8);
  const header = bytes.toString('latin1', 10, start);
  const [, type] = /'descr': '([^']+)'/.exec(header) ?? [];
  const [, shape] = /'shape': \(([^)]*)\)/.exec(header) ?? [];
  const reader = READERS[type ?? ''];
  if (!reader || shape === undefined || !header.includes("'fortran_order': False"))
    throw new Error(`${file}: ${header} is not read here`);
  const dims = shape
    .split(',')
    .filter((part) => part.trim() !== '')
    .map(Number);
  const view = new DataView(bytes.buffer, bytes.byteOffset + start, bytes.length - start);
  let at = 0;
  const nested = (axis: number): unknown => {
    if (axis === dims.length) return reader.read(view, reader.bytes * at++);
    return Array.from({ length: dims[axis]! }, () => nested(axis + 1));
  };
  return nested(0);
}
