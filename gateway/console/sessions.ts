import { hash, randomBytes } from 'node:crypto';
import type { Request, Response } from 'express';

/** Who has given the key of the console. Kept in memory only. */
export interface Sessions {
  /** Opens a session and sets its cookie. */
  open(request: Request, response: Response): Session;
  /** The session of a request, or undefined without a valid one. */
  find(request: Request): Session | undefined;
  end(request: Request, response: Response): void;
}

export interface Session {
  /** For the audit log: the start of a hash, which opens nothing. */
  name: string;
  isOpen(): boolean;
}

const LIFETIME_MS = 12 * 3_600_000;

/** More sessions end the oldest one. */
const MOST = 32;

export function createSessions(now: () => number = Date.now): Sessions {
  /** Hash of the id -> end. An id is found by its hash, so the time of a search tells nothing of it. */
  const ends = new Map<string, number>();
  const isOpen = (key: string) => (ends.get(key) ?? 0) > now();
  const keyOf = (request: Request) => {
    const id = cookieOf(request);
    return id === undefined ? undefined : hash('sha256', id);
  };
  const sessionOf = (key: string): Session => ({ name: key.slice(0, 12), isOpen: () => isOpen(key) });
  return {
    open(request, response) {
      const id = randomBytes(32).toString('base64url');
      if (ends.size >= MOST) ends.delete(ends.keys().next().value!);
      const key = hash('sha256', id);
      ends.set(key, now() + LIFETIME_MS);
      setCookie(request, response, `${id}; Max-Age=${LIFETIME_MS / 1000}`);
      return sessionOf(key);
    },
    find(request) {
      const key = keyOf(request);
      return key !== undefined && isOpen(key) ? sessionOf(key) : undefined;
    },
    end(request, response) {
      const key = keyOf(request);
      if (key !== undefined) ends.delete(key);
      setCookie(request, response, '; Max-Age=0');
    },
  };
}

/** Cookies are shared by all ports of a host. */
const nameOf = ({ socket }: Request) => `slipway_console_${socket.localPort}`;

function setCookie(request: Request, response: Response, value: string): void {
  response.setHeader('Set-Cookie', `${nameOf(request)}=${value}; Path=/; HttpOnly; SameSite=Strict`);
}

function cookieOf(request: Request): string | undefined {
  const prefix = `${nameOf(request)}=`;
  const cookies = (request.headers.cookie ?? '').split(';').map((cookie) => cookie.trim());
  return cookies.find((cookie) => cookie.startsWith(prefix))?.slice(prefix.length);
}
