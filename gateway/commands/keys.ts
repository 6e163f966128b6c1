import { Command } from 'commander';
import { printable } from '../../runtime/core/printable.js';
import { GatewayError } from '../errors.js';
import { changeKeys, readKeys } from '../keys/key-file.js';
import { newKey } from '../keys/key-store.js';

const EXAMPLES = `
Examples:
  gateway keys create --keys keys.json --name "the shop"
  gateway keys list --keys keys.json
  gateway keys revoke 3f2a9c01b7de --keys keys.json`;

interface KeyFlags {
  keys: string;
  json?: boolean;
}

/** `gateway keys create|list|revoke`: who may call. A running gateway follows the file within seconds. */
export function keysCommand(program: Command): void {
  const keys = new Command('keys')
    .description('Give out, list and take back keys')
    .addHelpText('after', EXAMPLES);
  const sub = (name: string, description: string) =>
    keys
      .command(name)
      .description(description)
      .requiredOption('--keys <file>', 'file of the keys, by their hashes')
      .option('--json', 'print JSON');
  sub('create', 'Make a key and print it: it is shown this once and kept nowhere')
    .option('--name <text>', 'whose it is', '')
    .action(({ name, ...flags }: KeyFlags & { name: string }) => create(name, flags));
  sub('list', 'List the keys, without the keys themselves').action(list);
  sub('revoke', 'Take a key back').argument('<id>', 'id of the key, as list shows it').action(revoke);
  program.addCommand(keys);
}

async function create(name: string, { keys: file, json }: KeyFlags): Promise<void> {
  const { secret, record } = newKey(name, new Date());
  await changeKeys(file, (keys) => [...keys, record]);
  print(json ? { id: record.id, name, key: secret } : secret);
}

async function list({ keys: file, json }: KeyFlags): Promise<void> {
  const rows = (await readKeys(file)).map(({ id, name, created }) => ({ id, name, created }));
  const lineOf = (row: { id: string; name: string; created: string }) =>
    [row.id, row.created, row.name].map(printable).join('  ');
  print(json ? rows : rows.map(lineOf).join('\n'));
}

async function revoke(id: string, { keys: file, json }: KeyFlags): Promise<void> {
  await changeKeys(file, (keys) => {
    const left = keys.filter((key) => key.id !== id);
    if (left.length === keys.length)
      throw new GatewayError(`${file} has no key ${printable(id)}; "gateway keys list" shows them`);
    return left;
  });
  print(json ? { id, revoked: true } : `${id} is revoked`);
}

function print(result: unknown): void {
  process.stdout.write(`${typeof result === 'string' ? result : JSON.stringify(result, null, 2)}\n`);
}
