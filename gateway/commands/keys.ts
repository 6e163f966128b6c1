import { Command } from 'commander';
import { printable } from '../../runtime/core/printable.js';
import { describeInvalidFile, GatewayError } from '../errors.js';
import { changeKeys, readKeys, withLimits } from '../keys/key-file.js';
import { describeLimits, type KeyLimits, keyLimits } from '../keys/key-limits.js';
import { newKey } from '../keys/key-store.js';
import { parseCount, parseRate, type Rate } from '../options.js';

const EXAMPLES = `
Examples:
  gateway keys create --keys keys.json --name "the shop"
  gateway keys list --keys keys.json
  gateway keys limit 3f2a9c01b7de --rate 100/60s --concurrent 4 --keys keys.json
  gateway keys limit 3f2a9c01b7de --common --keys keys.json
  gateway keys revoke 3f2a9c01b7de --keys keys.json`;

interface KeyFlags {
  keys: string;
  json?: boolean;
}

/** `gateway keys create|list|limit|revoke`. A running gateway picks up changes of the file within seconds. */
export function keysCommand(program: Command): void {
  const keys = new Command('keys')
    .description('Create, list, limit and revoke keys')
    .addHelpText('after', EXAMPLES);
  const addCommand = (name: string, description: string) =>
    keys
      .command(name)
      .description(description)
      .requiredOption('--keys <file>', 'key file; it holds hashes of the keys')
      .option('--json', 'print JSON');
  addCommand('create', 'Create a key and print it; it is shown only once')
    .option('--name <text>', 'name of its owner', '')
    .action(({ name, ...flags }: KeyFlags & { name: string }) => create(name, flags));
  addCommand('list', 'List the keys, without the keys themselves').action(list);
  addCommand('limit', 'Give a key limits of its own, or those of all keys again')
    .argument('<id>', 'id of the key, as shown by list')
    .option(
      '--rate <calls/time>',
      'calls of this key, in place of those of "gateway serve --rate"',
      parseRate,
    )
    .option('--concurrent <calls>', 'concurrent calls of this key; without it, any number', parseCount)
    .option('--common', 'the limits of all keys')
    .action(limit);
  addCommand('revoke', 'Revoke a key').argument('<id>', 'id of the key, as shown by list').action(revoke);
  program.addCommand(keys);
}

async function create(name: string, { keys: file, json }: KeyFlags): Promise<void> {
  const { secret, record } = newKey(name, new Date());
  await changeKeys(file, (keys) => [...keys, record]);
  print(json ? { id: record.id, name, key: secret } : secret);
}

async function list({ keys: file, json }: KeyFlags): Promise<void> {
  const rows = (await readKeys(file)).map(({ id, name, created, limits }) => ({
    ...{ id, name, created },
    ...(limits && { limits }),
  }));
  const lineOf = ({ id, created, name, limits }: (typeof rows)[number]) =>
    [id, created, name, ...(limits ? [`(${describeLimits(limits)})`] : [])].map(printable).join('  ');
  print(json ? rows : rows.map(lineOf).join('\n'));
}

interface LimitFlags extends KeyFlags {
  rate?: Rate;
  concurrent?: number;
  common?: boolean;
}

async function limit(id: string, { keys: file, json, ...flags }: LimitFlags): Promise<void> {
  const limits = readLimits(flags);
  await changeKeys(file, (keys) => withLimits(keys, id, limits) ?? noSuchKey(file, id));
  const text = limits ? describeLimits(limits) : 'those of all keys';
  print(json ? { id, limits: limits ?? null } : `${id} has these limits: ${text}`);
}

function readLimits({ rate, concurrent, common }: Omit<LimitFlags, 'keys'>): KeyLimits | undefined {
  if (common && !rate && concurrent === undefined) return undefined;
  if (common || !rate)
    throw new GatewayError('keys limit: give --rate, and --concurrent if you like, or --common alone');
  const limits = keyLimits.safeParse({ ...rate, ...(concurrent !== undefined && { concurrent }) });
  if (limits.success) return limits.data;
  throw new GatewayError(`keys limit: ${describeInvalidFile(limits.error)}`);
}

function noSuchKey(file: string, id: string): never {
  throw new GatewayError(`${file} has no key ${printable(id)}; "gateway keys list" shows them`);
}

async function revoke(id: string, { keys: file, json }: KeyFlags): Promise<void> {
  await changeKeys(file, (keys) => {
    const remaining = keys.filter((key) => key.id !== id);
    return remaining.length === keys.length ? noSuchKey(file, id) : remaining;
  });
  print(json ? { id, revoked: true } : `${id} is revoked`);
}

function print(result: unknown): void {
  process.stdout.write(`${typeof result === 'string' ? result : JSON.stringify(result, null, 2)}\n`);
}
