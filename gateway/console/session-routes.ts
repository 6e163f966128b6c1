import { Router } from 'express';
import * as z from 'zod';
import { RunError } from '../../runtime/core/errors.js';
import type { Logger } from '../../runtime/log.js';
import { keysMatch } from '../../runtime/wire/key.js';
import { sendEnvelope } from '../../runtime/wire/respond.js';
import { addressOf, type ConsoleAudit } from './audit.js';
import { createLimits } from '../limits/limits.js';
import type { ReadBody } from './body.js';
import type { Sessions } from './sessions.js';

const login = z.strictObject({ key: z.string().max(1000) });

/** Tries of an address to sign in; all behind a proxy have one. */
const TRIES = { calls: 10, seconds: 60 };

/** Addresses beyond share their tries. */
const MOST_ADDRESSES = 1000;

export interface SessionParts {
  key: string;
  logger: Logger;
  audit: ConsoleAudit;
}

/** Signs in and out, and says whether a visitor is signed in. */
export function sessionRoutes(parts: SessionParts, sessions: Sessions, readBody: ReadBody): Router {
  const { key, logger, audit } = parts;
  const router = Router({ caseSensitive: true, strict: true });
  const countTry = createTries();
  router.get('/', (request, response) => {
    const isOpen = sessions.find(request) !== undefined;
    sendEnvelope(response, 200, { error: null, output: { isOpen } });
  });
  router.post('/', async (request, response) => {
    const address = addressOf(request);
    await countTry(address);
    const given = await readBody(request, response, login);
    if (!keysMatch(given.key, key)) {
      logger.warn(`console: a wrong key from ${address}`);
      audit.refused(address);
      throw new RunError('unauthorized', 'this is not the key of the console');
    }
    logger.info(`console: signed in from ${address}`);
    const session = sessions.open(request, response);
    audit.write({ event: 'console-sign-in', session: session.name, address });
    sendEnvelope(response, 200, { error: null, output: { isOpen: true } });
  });
  router.delete('/', (request, response) => {
    const session = sessions.find(request);
    if (session)
      audit.write({ event: 'console-sign-out', session: session.name, address: addressOf(request) });
    sessions.end(request, response);
    sendEnvelope(response, 200, { error: null, output: { isOpen: false } });
  });
  return router;
}

/** @returns counts a try; throws RunError `rate_limited` when there were too many */
function createTries(): (address: string) => Promise<void> {
  const limits = createLimits(TRIES);
  const known = new Set<string>();
  return async (address) => {
    if (known.size < MOST_ADDRESSES) known.add(address);
    const { release } = await limits.enter(known.has(address) ? address : 'others');
    release();
  };
}
