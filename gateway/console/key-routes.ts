import { type Request, type RequestHandler, Router } from 'express';
import * as z from 'zod';
import { RunError } from '../../runtime/core/errors.js';
import { sendEnvelope } from '../../runtime/wire/respond.js';
import { GatewayError } from '../errors.js';
import { type Keys, newKey } from '../keys/key-store.js';
import { type StoredKey, withLimits } from '../keys/key-file.js';
import { describeLimits, keyLimits } from '../keys/key-limits.js';
import type { GatewayMetrics } from '../records/metrics.js';
import type { ReadBody } from './body.js';
import { readFigures } from './figures.js';
import { addFacts, type RecordAction, recorded } from './record-actions.js';
import type { KeyList } from './state.js';

export interface KeyParts {
  keys: Keys;
  metrics: GatewayMetrics;
  /** Of keys without limits of their own. */
  limits: KeyList['limits'];
  onAction: RecordAction;
}

const creation = z.strictObject({
  name: z.string().trim().min(1).max(200),
  limits: keyLimits.optional(),
});

/** `null` takes the limits of its own from a key. */
const limitation = z.strictObject({ limits: keyLimits.nullable() });

/** Lists, creates, limits and revokes the keys of callers. */
export function keyRoutes(parts: KeyParts, readBody: ReadBody): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.get('/', async (_request, response) =>
    sendEnvelope(response, 200, { error: null, output: await listKeys(parts) }),
  );
  const { onAction } = parts;
  const known = (params: Request['params']) => ({ key: params['id'] as string });
  router.post('/', recorded(onAction, 'create-key'), createKey(parts, readBody));
  router.post('/:id/limits', recorded(onAction, 'limit-key', known), limitKey(parts, readBody));
  router.delete('/:id', recorded(onAction, 'revoke-key', known), revokeKey(parts));
  return router;
}

async function listKeys({ keys, metrics, limits }: KeyParts): Promise<KeyList> {
  const figures = readFigures(await metrics.values());
  const calls = figures.sumBy('key_calls_total', 'key');
  const seconds = figures.sumBy('key_seconds_total', 'key');
  return {
    keys: keys.list().map(({ id, name, created, limits: own }) => ({
      ...{ id, name, created },
      calls: calls.get(id) ?? 0,
      seconds: seconds.get(id) ?? 0,
      limits: own ? { concurrent: null, ...own } : null,
    })),
    limits,
    isFile: keys.change !== undefined,
  };
}

/** The answer is the only one that holds the key itself. */
function createKey({ keys }: KeyParts, readBody: ReadBody): RequestHandler {
  return async (request, response) => {
    const { name, limits } = await readBody(request, response, creation);
    const { secret, record: bare } = newKey(name, new Date());
    const record: StoredKey = limits ? { ...bare, limits } : bare;
    addFacts(response, { key: record.id, name, ...(limits && { limits: describeLimits(limits) }) });
    await change(keys, (known) => [...known, record]);
    sendEnvelope(response, 200, { error: null, output: { id: record.id, name, key: secret } });
  };
}

function limitKey({ keys }: KeyParts, readBody: ReadBody): RequestHandler {
  return async (request, response) => {
    const id = String(request.params['id']);
    const { limits } = await readBody(request, response, limitation);
    addFacts(response, { limits: limits ? describeLimits(limits) : 'those of all keys' });
    await change(keys, (known) => withLimits(known, id, limits ?? undefined) ?? unknownKey());
    sendEnvelope(response, 200, { error: null, output: { id, limits } });
  };
}

function revokeKey({ keys }: KeyParts): RequestHandler {
  return async ({ params }, response) => {
    await change(keys, (known) => without(known, String(params['id'])));
    sendEnvelope(response, 200, { error: null, output: { id: params['id'], revoked: true } });
  };
}

function unknownKey(): never {
  throw new RunError('not_found', 'there is no key with this id');
}

function without(keys: readonly StoredKey[], id: string): readonly StoredKey[] {
  const remaining = keys.filter((key) => key.id !== id);
  return remaining.length === keys.length ? unknownKey() : remaining;
}

async function change(keys: Keys, changed: (keys: readonly StoredKey[]) => readonly StoredKey[]) {
  if (!keys.change)
    throw new RunError('conflict', 'this gateway has no file of keys; start it with --keys to change them');
  await keys.change(changed).catch((error: Error) => {
    throw error instanceof GatewayError ? new RunError('conflict', error.message) : error;
  });
}
