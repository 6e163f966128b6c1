export function halfOf(value: number): number;
export function floatOf(half: number): number;
