export const FIXTURES: string;
export const ROOTS: readonly string[];
export function sha256(content: Uint8Array): string;
export function filesUnder(folder: string): string[];
export function packedModels(): string[];
export function packOf(model: string): string;
export function readPack(file: string): { files: { name: string; sha256: string }[]; data: Uint8Array };
