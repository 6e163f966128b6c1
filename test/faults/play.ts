import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { downloadDir } from '../../runtime/store/paths.js';
import type { Job, Outcome, Worker } from './processes.js';
import type { Event, Schedule, Start } from './schedule.js';
import { damage, inventory, type Inventory } from './truth.js';
import type { World } from './world.js';

/** How long a process that waits for a stopped one is patient, and how often a living one gives a sign. */
const TUNING = { parallel: 3, attempts: 6, backoffMs: 1, heartbeatMs: 20, staleMs: 400 };

/** Short, where the hub may stall. */
const IMPATIENT = { stallMs: 120, firstByteMs: 250 };

/** A start without any fault, for the end of a schedule. */
const CALM: Start = { faults: [], event: { kind: 'none' } };

/** Faults after which a start may rightly have received more than was missing. */
const COSTLY = ['wrongBytes', 'extraBytes', 'ignoreRange', 'shiftBy', 'gzip', 'html', 'promise'] as const;

interface Stage {
  world: World;
  schedule: Schedule;
  root: string;
  dir: string;
  /** Finished files that we have damaged and that are still there. */
  rotten: Set<string>;
}

/**
 * Plays a schedule: every start ends well or with an error that says what to do, and no wrong byte ever lies under a
 * final name. Then a start without faults must complete the folder with at most 1 % more bytes than were missing, and
 * one more must ask the hub for nothing.
 * @throws an Error that says what was found
 */
export async function play(world: World, schedule: Schedule): Promise<void> {
  const { info } = world.models[schedule.model]!;
  const root = world.folder(schedule.starts.some(({ event }) => event.kind === 'disk-full'));
  const stage = { world, schedule, root, dir: downloadDir(root, info), rotten: new Set<string>() };
  try {
    for (const start of schedule.starts) await playStart(stage, start);
    await playStart(stage, CALM);
    await expectSilence(stage);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function playStart(stage: Stage, start: Start): Promise<void> {
  const { world, dir, rotten } = stage;
  const { truth } = world.models[stage.schedule.model]!;
  const rot = start.damage && damage(dir, truth, start.damage);
  if (rot !== undefined && start.damage === 'file') rotten.add(rot);
  const before = look(stage);
  world.hub.heal();
  for (const fault of start.faults) world.hub.fault(fault);
  const { outcomes, sent } = await happen(stage, start);
  const after = look(stage);
  for (const outcome of outcomes) judge(outcome, start);
  const done = outcomes.some((outcome) => outcome !== 'dead' && outcome.ok);
  if (done && !after.complete) throw new Error('a process says that all is there, and it is not');
  if (start === CALM) checkLastStart({ before, after, sent, outcome: outcomes[0]! });
  else if (outcomes.length === 1) checkReceived(outcomes[0]!, start, before.missing + before.spoilt);
}

/** What is there. @throws when a final name has wrong bytes, unless we have damaged that file and nobody could mend it yet */
function look({ world, schedule, dir, rotten }: Stage): Inventory {
  const found = inventory(dir, world.models[schedule.model]!.truth);
  for (const path of rotten) if (!found.wrong.includes(path)) rotten.delete(path);
  const ours = found.wrong.filter((path) => !rotten.has(path));
  if (ours.length > 0) throw new Error(`wrong bytes under a final name: ${ours.join(', ')}`);
  return found;
}

/** No outcome but success, death where it was dealt, and an error that says what to do. */
function judge(outcome: Outcome, { event }: Start): void {
  if (outcome === 'dead') {
    if (event.kind.startsWith('kill') || event.kind === 'two-writers') return;
    throw new Error('a process died by itself');
  }
  if (outcome.ok) return;
  const { name, kind, message, stack } = outcome;
  if (name !== 'StoreError' || !message.includes('; ')) throw new Error(`no clear error: ${stack}`);
  const known = ['network', 'rate_limited', 'corrupt', 'invalid', 'no_space'];
  if (!known.includes(kind!))
    throw new Error(`an error of a kind that no fault explains: ${kind}: ${message}`);
  if (kind === 'no_space' && event.kind !== 'disk-full') throw new Error(message);
}

function checkReceived(outcome: Outcome, { faults }: Start, due: number): void {
  if (outcome === 'dead' || !outcome.ok) return;
  if (faults.some((fault) => COSTLY.some((kind) => kind in fault))) return;
  if (outcome.receivedBytes > due * 1.01)
    throw new Error(`received ${outcome.receivedBytes} bytes, ${due} were due`);
}

interface LastStart {
  before: Inventory;
  after: Inventory;
  sent: number;
  outcome: Outcome;
}

function checkLastStart({ before, after, sent, outcome }: LastStart): void {
  if (outcome === 'dead' || !outcome.ok)
    throw new Error(`a start without faults ended with ${JSON.stringify(outcome)}`);
  if (!after.complete) throw new Error('incomplete after a start without faults');
  const due = before.missing + before.spoilt;
  if (sent > due * 1.01) throw new Error(`the hub has sent ${sent} bytes, ${due} were missing`);
}

async function expectSilence(stage: Stage): Promise<void> {
  const { hub } = stage.world;
  hub.requests.length = 0;
  const { outcomes } = await happen(stage, CALM);
  const [outcome] = outcomes;
  if (outcome === 'dead' || !outcome?.ok || hub.requests.length > 0)
    throw new Error(`a second start made ${hub.requests.length} requests: ${JSON.stringify(outcome)}`);
}

interface Happened {
  outcomes: Outcome[];
  /** Bytes that the hub has sent. */
  sent: number;
}

async function happen(stage: Stage, start: Start): Promise<Happened> {
  const { event } = start;
  const { world, root, schedule } = stage;
  const { info } = world.models[schedule.model]!;
  const job: Job = {
    spec: info,
    root,
    endpoint: world.hub.url,
    tuning: TUNING,
    patience: start === CALM ? {} : IMPATIENT,
  };
  const [first, second] = [await world.pool.take(), await world.pool.take()];
  try {
    return await HAPPENINGS[event.kind]({ world, job, first, second, event: event as never });
  } finally {
    world.pool.give(second);
    world.pool.give(first);
  }
}

interface Cast<E> {
  world: World;
  job: Job;
  first: Worker;
  second: Worker;
  event: E;
}

const HAPPENINGS: {
  [K in Event['kind']]: (cast: Cast<Extract<Event, { kind: K }>>) => Promise<Happened>;
} = {
  async none({ world, job, first }) {
    const count = world.watch();
    const outcomes = [await first.run(job)];
    return { outcomes, sent: count.sent };
  },

  async kill({ world, job, first, event }) {
    const count = world.watch(event.afterBytes, () => first.signal('SIGKILL'));
    const outcomes = [await first.run(job)];
    count.stop();
    return { outcomes, sent: count.sent };
  },

  async 'kill-in-time'({ world, job, first, event }) {
    const count = world.watch();
    const running = first.run(job);
    await sleep(event.afterMs);
    first.signal('SIGKILL');
    return { outcomes: [await running], sent: count.sent };
  },

  async 'two-writers'({ world, job, first, second, event }) {
    const count = world.watch(event.killAfterBytes, () => first.signal('SIGKILL'));
    const outcomes = await Promise.all([first.run(job), second.run(job)]);
    count.stop();
    return { outcomes, sent: count.sent };
  },

  async freeze({ world, job, first, second, event }) {
    let other: Promise<Outcome> | undefined;
    const count = world.watch(event.afterBytes, () => {
      first.signal('SIGSTOP');
      other = second.run(job);
      void other.then(() => first.signal('SIGCONT'));
    });
    const outcome = await first.run(job);
    count.stop();
    return { outcomes: [outcome, ...(other ? [await other] : [])], sent: count.sent };
  },

  async 'disk-full'({ world, job, first, event }) {
    const disk = typeof world.disk === 'object' ? world.disk : undefined;
    if (event.afterBytes === 0) disk?.fill();
    const count = world.watch(event.afterBytes || Infinity, () => disk?.fill());
    const outcomes = [await first.run(job)];
    count.stop();
    disk?.free();
    return { outcomes, sent: count.sent };
  },
};
