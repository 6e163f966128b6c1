import express, { type Express } from 'express';

/** An Express application that says nothing of itself and takes paths as they are. */
export function bareApplication(): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing').enable('strict routing');
  return app;
}
