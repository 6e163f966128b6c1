/**
 * Preloaded into every Node.js process of a second run, after attempts were counted: prints their targets on stderr. It is
 * text because it runs inside images, on their Node.js.
 */
const RECORDER = `
import { createRequire, syncBuiltinESMExports } from 'node:module';
const require = createRequire('file:///');
const { writeSync } = require('node:fs');
const say = (...parts) => {
  try { writeSync(2, 'slipway-attempt:' + parts.map((part) => encodeURIComponent(String(part))).join(':') + ';\\n'); } catch {}
};
const wrap = (object, name, tell) => {
  const real = object[name];
  if (typeof real === 'function') object[name] = function (...args) { try { tell(args); } catch {} return real.apply(this, args); };
};
const dns = require('node:dns');
for (const face of [dns, dns.promises])
  for (const name of Object.keys(face).filter((key) => /^(lookup|resolve)/.test(key)))
    wrap(face, name, ([host]) => require('node:net').isIP(host) || host === 'localhost' || say('dns', host));
wrap(require('node:net').Socket.prototype, 'connect', (args) => {
  const [first, second] = Array.isArray(args[0]) ? args[0] : args;
  const { host = 'localhost', port, path } = typeof first === 'object' ? first : { port: first, host: typeof second === 'string' ? second : undefined };
  if (!path) say('tcp', host, port);
});
for (const name of ['send', 'connect'])
  wrap(require('node:dgram').Socket.prototype, name, (args) => {
    const numbers = args.filter((arg) => typeof arg === 'number');
    say('udp', args.findLast((arg, index) => index > 0 && typeof arg === 'string') ?? 'localhost', numbers.at(-1));
  });
syncBuiltinESMExports();
`;

/** Value of NODE_OPTIONS that loads the recorder in addition to the image's own options. */
export function recorderOptions(env: readonly string[]): string {
  const own = env.find((line) => line.startsWith('NODE_OPTIONS='))?.slice('NODE_OPTIONS='.length) ?? '';
  const recorder = `--import=data:text/javascript;base64,${Buffer.from(RECORDER).toString('base64')}`;
  // First, so that it also sees attempts of other preloaded code.
  return `${recorder} ${own}`.trim();
}

/** Targets in a log with the recorder's output, without duplicates and without our own requests to the server. */
export function targetsIn(log: string, serverPort: number): string[] {
  const found = [...log.matchAll(/slipway-attempt:([\w%.!~*'()-]+(?::[\w%.!~*'()-]+)*);/g)].map(([, text]) =>
    text!.split(':').map(decodeURIComponent),
  );
  const targets = found
    .filter(([kind, host, port]) => !(kind === 'tcp' && isLoopback(host!) && Number(port) === serverPort))
    .map(([kind, host, port]) => (kind === 'dns' ? `dns ${host}` : `${kind} ${host} port ${port}`));
  return [...new Set(targets)];
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}
