interface Place {
  at: number;
  bytes: number;
  width: 2 | 4;
  single: boolean;
  dims: number[];
}

export function tensorsOf(name: string, content: Buffer): Place[];
