export interface ImageSize {
  profile: string;
  platform: string;
  /** Bytes. */
  aboveBase: number;
}

export function mb(bytes: number): string;

export function grownSizes(sizes: readonly ImageSize[], text: string): string[];
