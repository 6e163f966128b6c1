interface Place {
  at: number;
  bytes: number;
  width: 2 | 4;
  /** Of numbers whose draws can be found. */
  type?: 'single' | 'half';
  dims: number[];
}

export function tensorsOf(name: string, content: Buffer): Place[];
