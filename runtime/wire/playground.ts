import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import accepts from 'accepts';
import { type RequestHandler, type Response, Router } from 'express';

/** What the page may do: load its own files and call its own server; nothing inline, nothing from elsewhere. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data: blob:",
  'media-src data: blob:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'Content-Security-Policy': POLICY,
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-cache',
  Vary: 'Accept, Accept-Encoding',
};

export const HTML = 'text/html; charset=utf-8';

/** Files of pages by their paths. */
export type PageFiles = Readonly<Record<string, { name: string; type: string }>>;

const FILES: PageFiles = {
  '/': { name: 'page.html', type: HTML },
  '/docs': { name: 'docs.html', type: HTML },
  '/playground/page.js': { name: 'page.js', type: 'text/javascript; charset=utf-8' },
  '/playground/style.css': { name: 'style.css', type: 'text/css; charset=utf-8' },
  '/playground/docs.js': { name: 'docs.js', type: 'text/javascript; charset=utf-8' },
  '/playground/docs.css': { name: 'docs.css', type: 'text/css; charset=utf-8' },
};

/** Paths of the files that the page loads. */
export const PAGE_FILES: readonly string[] = Object.keys(FILES).filter((path) => path !== '/');

/**
 * The pages for people: a playground at the address of a model, the reference of its interface at /docs; for browsers only. Whoever does not ask for HTML gets what was there before.
 * @param folder holds the files, compressed with gzip; they are read when they are asked for, and not kept
 */
export function playgroundRoutes(folder: URL): Router {
  return pageRoutes(folder, FILES);
}

/** The same for any page: its files, and the headers that let it load nothing else. */
export function pageRoutes(folder: URL, files: PageFiles): Router {
  const router = Router({ caseSensitive: true, strict: true });
  for (const [path, file] of Object.entries(files)) {
    const send = sendFile(new URL(`${file.name}.gz`, folder), file.type);
    router.get(path, (request, response, next) => {
      if (file.type === HTML && accepts(request).type(['json', 'html']) !== 'html') return next();
      const asked = request.originalUrl.split('?')[0]!;
      // The page's own addresses are relative to it.
      if (path === '/' && !asked.endsWith('/')) return redirect(response, `${asked.split('/').at(-1)}/`);
      return send(request, response, next);
    });
  }
  return router;
}

function redirect(response: Response, location: string): void {
  response.statusCode = 302;
  response.setHeader('Location', location);
  response.end();
}

function sendFile(file: URL, type: string): RequestHandler {
  return async (request, response) => {
    const packed = await readFile(file);
    const isTaken = accepts(request).encoding(['gzip']) === 'gzip';
    const bytes = isTaken ? packed : await promisify(gunzip)(packed);
    response.statusCode = 200;
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    response.setHeader('Content-Type', type);
    if (isTaken) response.setHeader('Content-Encoding', 'gzip');
    response.setHeader('Content-Length', bytes.length);
    response.end(bytes);
  };
}
