import type { ServerUnderTest } from './server.js';

/** In the order in which they run. */
export const GROUPS = ['routes', 'answers', 'params', 'bodies', 'media', 'dialects', 'after'] as const;

export type Group = (typeof GROUPS)[number];

export interface Check {
  group: Group;
  name: string;
  /**
   * @returns one line about what was seen
   * @throws CheckFailure with the reason
   */
  run(server: ServerUnderTest): Promise<string>;
}

export interface CheckResult {
  group: Group;
  check: string;
  passed: boolean;
  /** What was seen, or the reason of the failure; one line. */
  detail: string;
  milliseconds: number;
}
