interface FileResult {
  name: string;
  startTime: number;
  endTime: number;
}

export function createDurations(): {
  add(suite: string, ms: number, results?: readonly FileResult[]): void;
  table(root: string): string;
};
