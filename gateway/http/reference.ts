import { Router } from 'express';
import { JSON_TYPE } from '../../runtime/wire/respond.js';
import { VERSION } from '../package.js';
import { POLICY, toHtml } from '../reference/html.js';
import { hostedOpenApi } from '../reference/openapi.js';
import { referencePage } from '../reference/page.js';
import { allowOnly } from './allow-only.js';

/** GET / for people and GET /openapi.json for machines. Neither lists the models. */
export function referenceRoutes(): Router {
  const document = hostedOpenApi(VERSION);
  const json = JSON.stringify(document);
  const page = toHtml('Hosted models', referencePage(document));
  const router = Router({ caseSensitive: true, strict: true });
  const get = (path: string, type: string, body: string) =>
    router
      .route(path)
      .get((_request, response) => {
        response.setHeader('Content-Type', type);
        response.setHeader('Content-Security-Policy', POLICY);
        response.setHeader('X-Content-Type-Options', 'nosniff');
        response.end(body);
      })
      .all(allowOnly('GET'));
  get('/', 'text/html; charset=utf-8', page);
  get('/openapi.json', JSON_TYPE, json);
  return router;
}
