/** A process of its own: asks an address for a sign of life every few milliseconds, tells the waits when asked to end. */
import { Agent, request } from 'node:http';

const [, , url] = process.argv;
const agent = new Agent({ keepAlive: true, maxSockets: 64 });
const waits = [];

function ask() {
  const asked = performance.now();
  const done = () => waits.push(performance.now() - asked);
  request(url, { agent }, (response) => response.resume().once('end', done))
    .once('error', () => waits.push(Infinity))
    .end();
}

const timer = setInterval(ask, 10);
process.once('message', () => {
  clearInterval(timer);
  // The last ones still come.
  setTimeout(() => process.send(waits, () => process.exit(0)), 3000);
});
