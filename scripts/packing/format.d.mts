export const FIXTURES: string;
export const ROOTS: readonly string[];
export function sha256(content: Uint8Array): string;
export function filesUnder(folder: string): string[];
export function packedModels(): string[];
export function packOf(model: string): string;
export function readPack(file: string): { files: { name: string; sha256: string }[]; data: Uint8Array };
export function split(content: Uint8Array, width: number): Uint8Array;
export function turned<T extends Float32Array | Uint8Array>(values: T, rows: number, columns: number): T;
