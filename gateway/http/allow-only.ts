import type { RequestHandler } from 'express';
import { refuseMethod } from '../../runtime/wire/middleware.js';

/** Answers 405 to every other method of a route. */
export function allowOnly(allowed: string): RequestHandler {
  return ({ method }, response) => refuseMethod(method, response, allowed);
}
