import { Command } from 'commander';
import { printable } from '../../runtime/core/printable.js';
import { describeInvalidFile, GatewayError } from '../errors.js';
import { changeKeys, readKeys, type StoredKey } from '../keys/key-file.js';
import { newKey } from '../keys/key-store.js';
import { limitFacts, type OwnLimits, ownLimits, withLimits } from '../limits/own-limits.js';
import { parseCount, parseRate } from '../options.js';

const EXAMPLES = `
Examples:
  gateway keys create --keys keys.json --name "the shop"
  gateway keys create --keys keys.json --name "a trial" --rate 30/60s --concurrent 1
  gateway keys list --keys keys.json
  gateway keys limits 3f2a9c01b7de --keys keys.json --rate 1200/60s
  gateway keys revoke 3f2a9c01b7de --keys keys.json`;

interface KeyFlags extends OwnLimits {
  keys: string;
  json?: boolean;
}

/** `gateway keys create|list|limits|revoke`. A running gateway picks up changes of the file within seconds. */
export function keysCommand(program: Command): void {
  const keys = new Command('keys')
    .description('Create, list and revoke keys, and set their limits')
    .addHelpText('after', EXAMPLES);
  const addCommand = (name: string, description: string) =>
    keys
      .command(name)
      .description(description)
      .requiredOption('--keys <file>', 'key file; it holds hashes of the keys')
      .option('--json', 'print JSON');
  addCommand('create', 'Create a key and print it; it is shown only once')
    .option('--name <text>', 'name of its owner', '')
    .option('--rate <calls/time>', 'limit of this key, in place of the --rate of "gateway serve"', parseRate)
    .option('--concurrent <calls>', 'concurrent calls of this key', parseCount)
    .action(({ name, ...flags }: KeyFlags & { name: string }) => create(name, flags));
  addCommand('list', 'List the keys, without the keys themselves').action(list);
  addCommand('limits', 'Set the limits of a key; those that are not given are as "gateway serve" says')
    .argument('<id>', 'id of the key, as shown by list')
    .option('--rate <calls/time>', 'such as 600/60s', parseRate)
    .option('--concurrent <calls>', 'concurrent calls', parseCount)
    .action(setLimits);
  addCommand('revoke', 'Revoke a key').argument('<id>', 'id of the key, as shown by list').action(revoke);
  program.addCommand(keys);
}

async function create(name: string, { keys: file, json, ...flags }: KeyFlags): Promise<void> {
  const { secret, record } = newKey(name, new Date(), limitsOf(flags));
  await changeKeys(file, (keys) => [...keys, record]);
  print(json ? { id: record.id, name, key: secret } : secret);
}

async function list({ keys: file, json }: KeyFlags): Promise<void> {
  const rows = (await readKeys(file)).map(({ hash: _hash, ...row }) => row);
  const lineOf = ({ id, created, name, limits }: Omit<StoredKey, 'hash'>) =>
    [id, created, name, ...(limits ? [`(${limitText(limits)})`] : [])].map(printable).join('  ');
  print(json ? rows : rows.map(lineOf).join('\n'));
}

async function setLimits(id: string, { keys: file, json, ...flags }: KeyFlags): Promise<void> {
  const limits = limitsOf(flags);
  await changeKeys(file, (keys) => {
    if (!keys.some((key) => key.id === id)) throw noSuchKey(file, id);
    return keys.map((key) => (key.id === id ? withLimits(key, limits) : key));
  });
  print(json ? { id, limits } : `${id} has ${limitText(limits) || 'the limits of "gateway serve"'}`);
}

const limitsOf = ({ rate, concurrent }: OwnLimits): OwnLimits => {
  const parsed = ownLimits.safeParse({ rate, concurrent });
  if (parsed.success) return parsed.data;
  throw new GatewayError(`these limits can't be set: ${describeInvalidFile(parsed.error)}`);
};

function limitText(own: OwnLimits): string {
  const { rate, concurrent } = limitFacts(own);
  return [...(rate ? [rate] : []), ...(concurrent ? [`${concurrent} at once`] : [])].join(', ');
}

const noSuchKey = (file: string, id: string) =>
  new GatewayError(`${file} has no key ${printable(id)}; "gateway keys list" shows them`);

async function revoke(id: string, { keys: file, json }: KeyFlags): Promise<void> {
  await changeKeys(file, (keys) => {
    const remaining = keys.filter((key) => key.id !== id);
    if (remaining.length === keys.length) throw noSuchKey(file, id);
    return remaining;
  });
  print(json ? { id, revoked: true } : `${id} is revoked`);
}

function print(result: unknown): void {
  process.stdout.write(`${typeof result === 'string' ? result : JSON.stringify(result, null, 2)}\n`);
}
