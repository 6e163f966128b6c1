import { type Command, InvalidArgumentError } from 'commander';
import { existsSync } from 'node:fs';
import { GatewayError } from '../errors.js';
import { readUsage } from '../usage/file.js';
import { addTo, NO_USAGE, type UsageAmounts, type UsageRow } from '../usage/row.js';

const EXAMPLES = `
A gateway that was started with --usage writes its file every two seconds. Days are in UTC, cost is in dollars.

Examples:
  gateway usage --usage usage.jsonl
  gateway usage --usage usage.jsonl --key 3f2a9c01b7de --since 2026-11-01 --until 2026-11-30
  gateway usage --usage usage.jsonl --model org/name --json`;

interface UsageFlags {
  usage: string;
  key?: string;
  model?: string;
  since?: string;
  until?: string;
  json?: boolean;
}

/** `gateway usage`: usage per day, key and model. */
export function usageCommand(program: Command): void {
  program
    .command('usage')
    .description('Report usage per day, key and model: calls, errors, cold starts, seconds, cost, tokens')
    .requiredOption('--usage <file>', 'usage file of the gateway')
    .option('--key <id>', 'only this key')
    .option('--model <id>', 'only this model')
    .option('--since <day>', 'first day', day)
    .option('--until <day>', 'last day', day)
    .option('--json', 'print a JSON array')
    .addHelpText('after', EXAMPLES)
    .action(usage);
}

async function usage(flags: UsageFlags): Promise<void> {
  if (!existsSync(flags.usage))
    throw new GatewayError(`there is no ${flags.usage}; "gateway serve --usage ${flags.usage}" writes it`);
  const rows = (await readUsage(flags.usage, filterOf(flags))).rows().map(rounded).toSorted(compareRows);
  process.stdout.write(flags.json ? `${JSON.stringify(rows, null, 2)}\n` : formatTable(rows));
}

function filterOf({ key, model, since = '', until = '9' }: UsageFlags): (row: UsageRow) => boolean {
  return (row) =>
    (key === undefined || row.key === key) &&
    (model === undefined || row.model === model) &&
    row.day >= since &&
    row.day <= until;
}

/** Removes the noise digits of summed fractions. */
function rounded(row: UsageRow): UsageRow {
  return { ...row, seconds: Number(row.seconds.toFixed(3)), cost: Number(row.cost.toFixed(10)) };
}

const sortKeyOf = ({ day, key, model, source }: UsageRow) => `${day} ${key} ${model} ${source}`;

function compareRows(a: UsageRow, b: UsageRow): number {
  return sortKeyOf(a) < sortKeyOf(b) ? -1 : 1;
}

function formatTable(rows: readonly UsageRow[]): string {
  const sum = { ...NO_USAGE };
  for (const row of rows) addTo(sum, row);
  const head = [
    ...['day', 'key', 'model', 'source', 'calls', 'errors', 'cold'],
    ...['seconds', 'cost', 'tokens in', 'tokens out'],
  ];
  const lines = rows.map((row) => [row.day, row.key, row.model, row.source, ...amounts(row)]);
  return alignColumns([head, ...lines, ['total', '', '', '', ...amounts(sum)]]);
}

function amounts({ calls, errors, coldStarts, seconds, cost, tokensIn, tokensOut }: UsageAmounts): string[] {
  return [calls, errors, coldStarts, seconds.toFixed(3), cost.toFixed(8), tokensIn, tokensOut].map(String);
}

/** Aligns text to the left and numbers to the right. */
function alignColumns(rows: readonly string[][]): string {
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)));
  const cell = (text: string, i: number) => (i < 4 ? text.padEnd(widths[i]!) : text.padStart(widths[i]!));
  return rows.map((row) => `${row.map(cell).join('  ').trimEnd()}\n`).join('');
}

function day(text: string): string {
  const date = new Date(`${text}T00:00:00Z`);
  const valid = /^\d{4}-\d{2}-\d{2}$/.test(text) && date.toJSON()?.startsWith(text);
  if (!valid) throw new InvalidArgumentError('expected a day such as 2026-11-01');
  return text;
}
