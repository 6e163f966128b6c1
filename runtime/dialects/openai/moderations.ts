import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { RunError } from '../../core/errors.js';
import type { ModerationFlags } from '../../core/moderation.js';
import { sendJson } from '../../wire/respond.js';
import { answerAll } from '../ask.js';
import type { DialectCall } from '../dialect.js';
import { modelField, textOrTexts } from '../fields.js';
import { moderationFlags } from '../moderation-flags.js';
import { readRequest } from '../read-request.js';
import { ENDPOINTS, findModel } from './models.js';

const MAX_INPUTS = 128;

const NO_TEXT = 'must be a text, several, or one part of type text: images are not judged';
const part = z.strictObject(
  { type: z.literal('text', { error: NO_TEXT }), text: z.string() },
  { error: NO_TEXT },
);

/** POST moderations. */
export const moderationBody = z.strictObject({
  model: modelField,
  input: z.union([textOrTexts(MAX_INPUTS, NO_TEXT), z.tuple([part], { error: NO_TEXT })]),
  flags: moderationFlags
    .nullish()
    .describe(
      'not OpenAI’s: labels of the model that flag a text, each with the least score that does; by default those of the operator',
    ),
});

const NAMES = { text: 'input' };

/** Judges texts by a classifier's scores. What is too long is refused: its end would be judged by nobody. */
export async function moderate(call: DialectCall): Promise<void> {
  const { response, host } = call;
  const given = await readRequest(call, moderationBody, { tasks: ENDPOINTS['/moderations'], batch: true });
  const model = findModel('/moderations', given.model ?? undefined, host);
  const flags = given.flags ?? model.moderation;
  if (!flags)
    throw new RunError(
      'unprocessable',
      `flags: nobody has said which labels of ${model.modelId} flag a text; send flags, such as {"toxic": 0.5}, or have the operator set them (MODERATION_FLAGS, or moderation in the gateway’s catalogue)`,
    );
  const bodies = textsOf(given.input).map((text) => ({ text, params: { top_k: null, truncation: false } }));
  await answerAll(call, { model, bodies, names: NAMES }, (answers) => {
    const results = answers.map(({ output }) => resultOf(output as Row[], flags));
    sendJson(response, 200, JSON.stringify({ id: `modr-${randomUUID()}`, model: model.modelId, results }));
  });
}

function textsOf(input: z.output<typeof moderationBody>['input']): string[] {
  return [input].flat().map((one) => (typeof one === 'string' ? one : one.text));
}

interface Row {
  label: string;
  score: number | null;
}

/** @throws RunError 400 for flags that the model has no label of */
function resultOf(rows: readonly Row[], flags: ModerationFlags): object {
  const labels = new Set(rows.map(({ label }) => label));
  const missing = Object.keys(flags).find((label) => !labels.has(label));
  if (missing !== undefined)
    throw new RunError(
      'invalid_input',
      `flags.${missing.slice(0, 100)}: is no label of the model; it has ${[...labels].slice(0, 20).join(', ').slice(0, 500)}`,
    );
  const each = <T>(value: (row: Row) => T): Record<string, T> =>
    Object.fromEntries(rows.map((row) => [row.label, value(row)]));
  const categories = each(({ label, score }) => Object.hasOwn(flags, label) && flagged(score, flags[label]!));
  return {
    flagged: Object.values(categories).includes(true),
    categories,
    category_scores: each(({ score }) => score),
    category_applied_input_types: each(() => ['text']),
  };
}

/** @throws RunError for a score that is no number, which neither flags nor clears a text */
function flagged(score: number | null, least: number): boolean {
  if (score === null) throw new RunError('engine_failed', 'the model gave no number as a score');
  return score >= least;
}
