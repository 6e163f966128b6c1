import { mkdtemp, readFile, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openAuditLog } from '../../../gateway/audit/audit-log.js';
import { createRefusals } from '../../../gateway/audit/refusals.js';
import { changeKeys } from '../../../gateway/keys/key-file.js';
import { fileKeys, newKey } from '../../../gateway/keys/key-store.js';
import type { FinishedCall } from '../../../gateway/records/finished-call.js';
import { waitFor } from '../../fakes/server.js';

const folder = () => mkdtemp(path.join(tmpdir(), 'slipway-audit-'));
const eventsOf = async (file: string) =>
  (await readFile(file, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test('goes on in a new file after the old one was moved away', async () => {
  const file = path.join(await folder(), 'audit.jsonl');
  const log = await openAuditLog(file, () => {});
  log.write({ event: 'one' });
  await waitFor(async () => (await readFile(file)).length > 0);
  await rename(file, `${file}.1`);
  log.write({ event: 'two' });
  await log.reopen();
  log.write({ event: 'three' });
  await log.close();
  expect((await eventsOf(`${file}.1`)).map(({ event }) => event)).toEqual(['one', 'two']);
  expect(await eventsOf(file)).toEqual([{ time: expect.stringMatching(/^2\d\d\d-.*Z$/), event: 'three' }]);
});

test('a disk that is full costs lines, not calls, and that is told once', async () => {
  const told: string[] = [];
  const log = await openAuditLog('/dev/full', (line) => told.push(line));
  log.write({ event: 'one' });
  await waitFor(() => told.length > 0);
  for (let i = 0; i < 3000; i++) log.write({ event: 'more' });
  await log.close();
  // Told once.
  expect(told).toEqual(['lines of the audit log are lost: ENOSPC']);
});

test('many refused calls are few lines, and none of them holds a key', () => {
  const lines: Record<string, unknown>[] = [];
  const refusals = createRefusals((event) => lines.push(event));
  const call = (code: string, address: string, more: Partial<FinishedCall> = {}) =>
    refusals.count({ code, address, ...more } as FinishedCall);
  for (let i = 0; i < 10_000; i++) {
    call('unauthorized', `10.0.0.${i % 200}`, { refusedKey: 'abcdef123456' });
    call('rate_limited', '10.9.9.9', { keyId: 'k1' });
    call('not_found', '10.8.8.8', { keyId: 'k1' });
  }
  refusals.flush();
  expect(lines).toHaveLength(21);
  expect(lines.reduce((sum, { calls }) => sum + Number(calls), 0)).toBe(20_000);
  expect(lines.slice(0, 2)).toEqual([
    { event: 'key-refused', address: '10.0.0.0', key: 'sha256:abcdef123456…', calls: 50 },
    { event: 'over-limit', address: '10.9.9.9', key: 'k1', calls: 10_000 },
  ]);
  refusals.flush();
  expect(lines).toHaveLength(21);
  for (let i = 0; i < 3; i++) refusals.countConsole('10.0.0.1');
  refusals.flush();
  expect(lines.slice(21)).toEqual([{ event: 'console-key-refused', address: '10.0.0.1', calls: 3 }]);
});

test('keys that come and go while the gateway runs are told by their ids', async () => {
  const file = path.join(await folder(), 'keys.json');
  const [one, two] = [newKey('one', new Date(0)), newKey('two', new Date(0))];
  await changeKeys(file, () => [one.record]);
  const changes: object[] = [];
  const keys = await fileKeys(file, { log: () => {}, onChange: (change) => changes.push(change) });
  await changeKeys(file, () => [two.record]);
  await waitFor(() => changes.length === 2);
  await changeKeys(file, ([key]) => [{ ...key!, limits: { concurrent: 2 } }]);
  await waitFor(() => changes.length === 3);
  expect(keys.find(two.secret)!.limits).toEqual({ concurrent: 2 });
  keys.close();
  expect(changes).toEqual([
    { change: 'created', id: two.record.id, name: 'two' },
    { change: 'revoked', id: one.record.id, name: 'one' },
    { change: 'limits-set', id: two.record.id, name: 'two', limits: { concurrent: 2 } },
  ]);
});
