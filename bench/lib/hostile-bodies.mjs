/** Bodies that cost a server as much as its limits allow, for what they cost to send. */
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

export const MEBI = 2 ** 20;

const filled = (head, unit, tail, size) =>
  Buffer.from(head + unit.repeat(Math.floor((size - head.length - tail.length) / unit.length)) + tail);

const plain = (name, bytes) => ({ name, bytes });
const gzip = (name, bytes) => ({ name, encoding: 'gzip', bytes: gzipSync(bytes) });
const brotli = (name, bytes) => ({
  ...{ name, encoding: 'br' },
  bytes: brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
});

/** 49 KB: 48 MiB of empty objects under a key that nobody reads. */
export const BOMB = gzip('48 MiB of objects in gzip', filled('{"junk":[', '{},', '{}]}', 48 * MEBI));

/** @param size of the larger ones: what a server of a text task takes, or what one of images takes */
export function hostileBodies(size) {
  const few = Math.min(size, 4 * MEBI);
  return [
    BOMB,
    plain('objects', filled('{"junk":[', '{},', '{}]}', few)),
    plain('nested arrays', Buffer.from(`{"junk":${'['.repeat(few / 2)}${']'.repeat(few / 2 - 10)}}`)),
    plain('members', filled('{', '"":1,', '"b":1}', few)),
    plain('as many values as may be', filled('{"text":"x","params":{"stop":[', '1,', '1]}}', 39_000)),
    plain('as many objects as may be', filled('{"messages":[', '{},', '1]}', 59_000)),
    plain('spaces', filled('{"text":', ' ', '"x"}', size)),
    plain('digits', filled('{"text":', '1', '}', size)),
    plain('one long text of quotes', filled('{"junk":"', '\\"', '"}', size)),
    plain('one long text of backslashes', filled('{"junk":"', '\\\\', '"}', size)),
    plain('one long text of escapes', filled('{"junk":"', '\\u00e9', '"}', size)),
    plain('long texts', filled('{"junk":[', `"${'x'.repeat(60_000)}",`, '1]}', size)),
    plain('one long text without an end', filled('{"junk":"', 'x', '', size)),
    plain('Base64 that is no image', filled('{"base64":"', 'iVBORw0KGgoA', '"}', size)),
    gzip('a long text in gzip', filled('{"junk":"', 'x', '"}', size)),
    brotli('a long text in Brotli', filled('{"junk":"', 'xy', '"}', size)),
    gzip('nothing but zeros', Buffer.alloc(256 * MEBI)),
  ];
}
