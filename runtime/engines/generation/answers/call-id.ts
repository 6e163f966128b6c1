import { randomBytes } from 'node:crypto';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** An id for a call, as OpenAI makes them; or of nine characters, where templates insist on that. */
export function newCallId(short: boolean): string {
  const bytes = [...randomBytes(short ? 9 : 24)];
  const letters = bytes.map((byte) => LETTERS[byte % LETTERS.length]).join('');
  return short ? letters : `call_${letters}`;
}
