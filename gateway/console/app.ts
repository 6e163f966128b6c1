import type { RequestListener } from 'node:http';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { encodedJson } from '../../runtime/core/encoded-json.js';
import { RunError } from '../../runtime/core/errors.js';
import type { Logger } from '../../runtime/log.js';
import { bareApplication } from '../../runtime/wire/application.js';
import { assignRequestId, errorHandler, sendInvalidAddress } from '../../runtime/wire/middleware.js';
import { HTML, type PageFiles, pageRoutes } from '../../runtime/wire/playground.js';
import { sendEnvelope } from '../../runtime/wire/respond.js';
import { type ActionParts, actionRoutes } from './actions.js';
import { type ConsoleAudit, recordActions } from './audit.js';
import { createBodyReader, type ReadBody } from './body.js';
import { createFeed, type Feed } from './feed.js';
import { refuseOtherPages, requireIntent, requireOwnName, requireSession } from './guard.js';
import { createHistory, type History } from './history.js';
import { type KeyParts, keyRoutes } from './key-routes.js';
import { readState, type StateSources } from './read-state.js';
import { sessionRoutes } from './session-routes.js';
import { createSessions, type Sessions } from './sessions.js';

export interface ConsoleParts extends StateSources, ActionParts, KeyParts {
  upstream: ActionParts['upstream'];
  /** The key of the console, which is none of the callers'. */
  key: string;
  /** It listens on a loopback address, so it has to be asked by its name. */
  isLocal: boolean;
  /** Holds the files of the page. */
  folder: URL;
  logger: Logger;
  audit: ConsoleAudit;
  /** Time between two states for listeners. */
  everyMs?: number;
  /** Time between two samples for charts. */
  sampleMs?: number;
}

export interface Console {
  app: RequestListener;
  /** Pages that are told the state now. */
  listeners(): number;
  close(): void;
}

const FILES: PageFiles = {
  '/': { name: 'page.html', type: HTML },
  '/console/page.js': { name: 'page.js', type: 'text/javascript; charset=utf-8' },
  '/console/style.css': { name: 'style.css', type: 'text/css; charset=utf-8' },
};

/** The console of the gateway's operators, for an address of its own. */
export function createConsole(parts: ConsoleParts): Console {
  const { metrics, logger } = parts;
  const sessions = createSessions();
  const models = () => parts.catalog.list().map(({ modelId }) => modelId);
  const history = createHistory(metrics, models, parts.sampleMs);
  const readBody = createBodyReader();
  const read = async () => JSON.stringify(await readState(parts, history));
  const feed = createFeed({ read, everyMs: parts.everyMs, log: (line) => logger.error(line) });
  const app = bareApplication();
  app.use(assignRequestId);
  if (parts.isLocal) app.use(requireOwnName);
  app.use(pageRoutes(parts.folder, FILES));
  app.use(noStore, refuseOtherPages, requireIntent);
  app.use('/session', sessionRoutes(parts, sessions, readBody));
  app.use(
    '/api',
    requireSession(sessions),
    recordActions(sessions, parts.audit),
    apiRoutes(parts, { sessions, feed, history, read, readBody }),
  );
  app.use(notFound, errorHandler(logger));
  return {
    app: (request, response) =>
      app(request as Request, response as Response, () => sendInvalidAddress(response as Response)),
    listeners: () => feed.listeners,
    close() {
      feed.close();
      history.close();
    },
  };
}

interface ApiParts {
  sessions: Sessions;
  feed: Feed;
  history: History;
  /** The state, as JSON. */
  read(): Promise<string>;
  readBody: ReadBody;
}

function apiRoutes(parts: ConsoleParts, { sessions, feed, history, read, readBody }: ApiParts): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.get('/state', async (_request, response) =>
    sendEnvelope(response, 200, { error: null, output: encodedJson([await read()]) }),
  );
  router.get('/events', (request, response) => feed.add(response, sessions.find(request)!.isOpen));
  router.get('/models/:org/:name/history', ({ params }, response) =>
    sendEnvelope(response, 200, {
      error: null,
      output: history.samples(`${params['org']}/${params['name']}`),
    }),
  );
  router.use('/keys', keyRoutes(parts, readBody));
  router.use(actionRoutes(parts));
  return router;
}

const noStore: RequestHandler = (_request, response, next) => {
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('X-Content-Type-Options', 'nosniff');
  next();
};

const notFound: RequestHandler = () => {
  throw new RunError('not_found', 'no such route; the page of the console is at /, its interface at /api');
};
