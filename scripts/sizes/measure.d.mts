export interface Size {
  what: string;
  bytes: number;
  limit: number;
}
export function measure(): Size[];
export function beyond(rows: readonly Size[]): string[];
export function kb(bytes: number): string;
