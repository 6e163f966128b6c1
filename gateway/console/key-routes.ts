import { type RequestHandler, Router } from 'express';
import * as z from 'zod';
import { RunError } from '../../runtime/core/errors.js';
import { sendEnvelope } from '../../runtime/wire/respond.js';
import { GatewayError } from '../errors.js';
import { type Keys, newKey } from '../keys/key-store.js';
import type { StoredKey } from '../keys/key-file.js';
import { effectiveLimits, limitFacts, type OwnLimits, ownLimits, withLimits } from '../limits/own-limits.js';
import type { GatewayMetrics } from '../records/metrics.js';
import { addFacts, namedAction } from './audit.js';
import type { ReadBody } from './body.js';
import { readFigures } from './figures.js';
import type { KeyLimits, KeyList } from './state.js';
import { usageByModel, usageOf } from './usage.js';

export interface KeyParts {
  keys: Keys;
  metrics: GatewayMetrics;
  /** Of keys that have none for themselves. */
  limits: KeyList['limits'];
}

const creation = z.strictObject({ name: z.string().trim().min(1).max(200), limits: ownLimits.default({}) });

/** Lists, creates and revokes the keys of callers, sets their limits, and says what they have used. */
export function keyRoutes(parts: KeyParts, readBody: ReadBody): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.get('/', async (_request, response) =>
    sendEnvelope(response, 200, { error: null, output: await listKeys(parts) }),
  );
  router.post('/', namedAction('key-create'), createKey(parts, readBody));
  router.get('/:id/usage', async ({ params }, response) => {
    const { id } = params;
    requireKnown(parts.keys.list(), id);
    const figures = readFigures(await parts.metrics.values());
    sendEnvelope(response, 200, { error: null, output: usageByModel(figures, id) });
  });
  router.put('/:id/limits', namedAction('key-limits'), setLimits(parts, readBody));
  router.delete('/:id', namedAction('key-revoke'), async ({ params }, response) => {
    await change(parts.keys, (keys) => without(keys, String(params['id'])));
    sendEnvelope(response, 200, { error: null, output: { id: params['id'], revoked: true } });
  });
  return router;
}

async function listKeys({ keys, metrics, limits }: KeyParts): Promise<KeyList> {
  const figures = readFigures(await metrics.values());
  return {
    keys: keys.list().map(({ id, name, created, limits: own }) => ({
      ...{ id, name, created, own: own ?? {}, limits: limitsOf(limits, own) },
      ...usageOf(figures, { key: id }),
    })),
    limits,
    isFile: keys.change !== undefined,
  };
}

function limitsOf(all: KeyList['limits'], own: OwnLimits | undefined): KeyLimits {
  const { calls, seconds, concurrent } = effectiveLimits(
    { ...all, concurrent: all.concurrent ?? undefined },
    own,
  );
  return { calls, seconds, concurrent: concurrent ?? null };
}

/** The answer is the only one that holds the key itself. */
function createKey({ keys }: KeyParts, readBody: ReadBody): RequestHandler {
  return async (request, response) => {
    const { name, limits } = await readBody(request, response, creation);
    const { secret, record } = newKey(name, new Date(), limits);
    addFacts(response, { key: record.id, name, ...limitFacts(limits) });
    await change(keys, (known) => [...known, record]);
    sendEnvelope(response, 200, { error: null, output: { id: record.id, name, key: secret } });
  };
}

/** What the body leaves out is as the gateway's options say; the next call of the key counts by it. */
function setLimits({ keys }: KeyParts, readBody: ReadBody): RequestHandler {
  return async (request, response) => {
    const id = String(request.params['id']);
    const limits = await readBody(request, response, ownLimits);
    addFacts(response, limitFacts(limits));
    await change(keys, (known) => {
      requireKnown(known, id);
      return known.map((key) => (key.id === id ? withLimits(key, limits) : key));
    });
    sendEnvelope(response, 200, { error: null, output: { id, limits } });
  };
}

function without(keys: readonly StoredKey[], id: string): readonly StoredKey[] {
  requireKnown(keys, id);
  return keys.filter((key) => key.id !== id);
}

function requireKnown(keys: readonly StoredKey[], id: string): void {
  if (!keys.some((key) => key.id === id)) throw new RunError('not_found', 'there is no key with this id');
}

async function change(keys: Keys, changed: (keys: readonly StoredKey[]) => readonly StoredKey[]) {
  if (!keys.change)
    throw new RunError('conflict', 'this gateway has no file of keys; start it with --keys to change them');
  await keys.change(changed).catch((error: Error) => {
    throw error instanceof GatewayError ? new RunError('conflict', error.message) : error;
  });
}
