import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { verdictOf } from '../../../../builder/export/known.js';
import { TRIED } from '../../../../builder/export/tried.js';
import { PINNED } from '../../../../builder/export/versions.js';
import { chooseEngine } from '../../../../builder/plan/choose-engine.js';
import type { TaskId } from '../../../../runtime/core/task-ids.js';
import { taskOf } from '../../../../runtime/tasks/registry.js';

const trial = z.discriminatedUnion('result', [
  z.strictObject({
    result: z.literal('exports'),
    class: z.string(),
    graph: z.number().max(1e-4),
    answers: z.int().min(1),
  }),
  z.strictObject({
    result: z.enum(['failed', 'differs', 'unplanned', 'untried']),
    class: z.string().optional(),
    graph: z.number().optional(),
    reason: z.string(),
  }),
]);
/** What scripts/atlas/try-exports.mjs found. */
const { tools, pairs } = z
  .strictObject({
    tools: z.record(z.string(), z.string()),
    pairs: z.record(z.string(), z.record(z.string(), trial)),
  })
  .parse(JSON.parse(readFileSync('scripts/atlas/exports.json', 'utf8')));

const trials = Object.entries(pairs).flatMap(([task, types]) =>
  Object.entries(types).map(([type, found]) => {
    const { head } = chooseEngine(taskOf(task as TaskId), type).binding;
    return { task, type, head, ...found };
  }),
);

test('trials were made with the pinned tools', () => expect(tools).toEqual(PINNED));

test('plans say of every trial what it showed', () => {
  const said = trials.map(({ type, head, result }) => [type, head, result, verdictOf(type, head).kind]);
  const kinds: Record<string, string[]> = {
    exports: ['exports'],
    differs: ['refused'],
    unplanned: ['untried'],
  };
  for (const one of said) expect(kinds[one[2]!] ?? ['refused', 'untried']).toContain(one[3]);
});

test('plans promise nothing that no trial showed', () => {
  const shown = new Map(trials.map(({ type, head, result }) => [`${type} ${head}`, result]));
  const promised = Object.entries(TRIED).flatMap(([head, verdicts]) =>
    Object.entries(verdicts).flatMap(([verdict, lines]) =>
      lines.flatMap((line) => line.split(' ').map((type) => [`${type} ${head}`, verdict || true] as const)),
    ),
  );
  expect(promised.length).toBeGreaterThan(90);
  for (const [name, verdict] of promised)
    expect([name, shown.get(name) === 'exports']).toEqual([name, verdict === true]);
});
