import express, { type Express } from 'express';

/** An Express application without the X-Powered-By header, with case-sensitive and strict paths. */
export function bareApplication(): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing').enable('strict routing');
  return app;
}
