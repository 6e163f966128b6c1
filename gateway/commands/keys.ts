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

/** `gateway keys create|list|revoke`. A running gateway picks up changes of the file within seconds. */
export function keysCommand(program: Command): void {
  const keys = new Command('keys').description('Create, list and revoke keys').addHelpText('after', EXAMPLES);
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
  addCommand('revoke', 'Revoke a key').argument('<id>', 'id of the key, as shown by list').action(revoke);
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
    const remaining = keys.filter((key) => key.id !== id);
    if (remaining.length === keys.length)
      throw new GatewayError(`${file} has no key ${printable(id)}; "gateway keys list" shows them`);
    return remaining;
  });
  print(json ? { id, revoked: true } : `${id} is revoked`);
}

function print(result: unknown): void {
  process.stdout.write(`${typeof result === 'string' ? result : JSON.stringify(result, null, 2)}\n`);
}
