import type { Request, RequestHandler, Response } from 'express';
import { observeResponses } from '../../runtime/wire/observe-responses.js';
import type { AuditEvent } from '../audit/audit-log.js';
import type { Sessions } from './sessions.js';

/** Where it is recorded what operators do. Gets ids, names and outcomes; never a key, a cookie or a message. */
export interface ConsoleAudit {
  write(event: AuditEvent): void;
  /** Somebody gave a wrong key of the console. */
  refused(address: string): void;
}

type ActionName = 'warm-up' | 'stop' | 'reload' | 'key-create' | 'key-revoke' | 'key-limits';

type Facts = Omit<AuditEvent, 'event'>;

interface Action {
  name: ActionName;
  facts: Facts;
}

/** Names in addresses are what somebody typed. */
const MOST_CHARACTERS = 200;

/** Says which action a route is, and the model or key that its address names. */
export function namedAction(name: ActionName): RequestHandler {
  return ({ params: { org, name: model, id } }, response, next) => {
    const facts = {
      ...(model !== undefined && { model: `${String(org)}/${String(model)}`.slice(0, MOST_CHARACTERS) }),
      ...(id !== undefined && { key: String(id).slice(0, MOST_CHARACTERS) }),
    };
    response.locals['action'] = { name, facts } satisfies Action;
    next();
  };
}

/** Adds to what is recorded of the action that is under way. */
export function addFacts({ locals }: Response, facts: Facts): void {
  Object.assign((locals['action'] as Action).facts, facts);
}

/**
 * Records each action when its answer has been sent: who (the session), what, and how it ended: `done` or the code of the
 * error; `cancelled` where the operator left before the end, while a start goes on.
 */
export function recordActions(sessions: Sessions, audit: ConsoleAudit): RequestHandler {
  const observe = observeResponses(new Set(), ({ code }, response) => {
    const action = response.locals['action'] as Action | undefined;
    if (action === undefined) return;
    const who = response.locals['who'] as Facts;
    audit.write({ event: `console-${action.name}`, ...who, ...action.facts, outcome: code ?? 'done' });
  });
  return (request, response, next) => {
    response.locals['who'] = { session: sessions.find(request)!.name, address: addressOf(request) };
    observe(request, response, next);
  };
}

export const addressOf = ({ socket }: Request): string => socket.remoteAddress ?? 'unknown';
