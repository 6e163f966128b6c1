export function words(seed: number, count: number): Uint32Array;
export function normal(stream: Uint32Array, start: number, count: number): Float32Array;
