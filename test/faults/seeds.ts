import { execFileSync } from 'node:child_process';

/**
 * How many seeded faults a run injects: few that change with the commit, so that many are tried over a month; FAULTS=full, for
 * nightly runs, tries all of them. SEED=n tries one alone, on any commit.
 */
const FULL = process.env['FAULTS'] === 'full';

/** Seeds of downloads. SCHEDULES=n tries so many. */
const SCHEDULES = Number(process.env['SCHEDULES'] ?? (FULL ? 240 : 80));

/** Changed inputs for each network. ROUNDS=n tries so many. */
export const ROUNDS = Number(process.env['ROUNDS'] ?? (FULL ? 15 : 5));

/** Below 2 ** 32, which is where seeds begin to repeat, with any number of networks. */
const COMMIT_DIGITS = 7;

const given = process.env['SEED']?.split(',').map(Number);

/** Where the seeds of this commit begin; 0 where it is not known. */
function firstSeed(): number {
  try {
    const commit = execFileSync('git', ['rev-parse', 'HEAD'], {
      cwd: import.meta.dirname,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return Number.parseInt(commit.slice(0, COMMIT_DIGITS), 16);
  } catch {
    return 0;
  }
}

const first = firstSeed();

export const scheduleSeeds = (): number[] => given ?? Array.from({ length: SCHEDULES }, (_, i) => first + i);

/** Seeds of the nth network, without an end unless one is given; no network has another's. */
export function* networkSeeds(network: number): Generator<number> {
  if (given) return yield* given;
  for (let round = 0; ; round++) yield first + network * MOST_ROUNDS + round;
}

/** Of one network, where its first ones all came to the same end. */
export const MOST_ROUNDS = Math.max(100, ROUNDS);

/** The command that tries a seed again. */
export const again = (seed: number): string => `SEED=${seed} npm run jest -- --selectProjects faults`;
