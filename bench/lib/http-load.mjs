/**
 * Requests over kept connections, in a process of their own: either so many a second, or so many at a time. Plain
 * sockets: a client library would cost more than what it measures.
 */
import { connect } from 'node:net';

/** A connection for one request at a time. @returns `ask(bytes)`, which gives the status once the answer is whole */
function connection({ hostname, port }) {
  const socket = connect(Number(port), hostname).setNoDelay();
  let [seen, done] = ['', undefined];
  socket.on('data', (chunk) => {
    seen += chunk.toString('latin1');
    const end = seen.indexOf('\r\n\r\n');
    if (end === -1) return;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(seen.slice(0, end))?.[1]);
    if (seen.length < end + 4 + length) return;
    const status = seen.slice(9, 12);
    seen = '';
    done(status);
  });
  return {
    ask: (bytes) =>
      new Promise((resolve) => {
        done = resolve;
        socket.write(bytes);
      }),
    close: () => socket.destroy(),
  };
}

function bytesOf({ url, headers, body }) {
  const { pathname, host } = new URL(url);
  const lines = Object.entries({ host, ...headers, 'content-length': Buffer.byteLength(body) });
  return `POST ${pathname} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
}

/** Sends `perSecond` whether or not answers come; times count from when a request was due. */
function atRate({ requests, perSecond, seconds }) {
  const [times, statuses, waiting] = [[], {}, []];
  const free = Array.from({ length: 32 }, () => connection(new URL(requests[0].url)));
  const bytes = requests.map(bytesOf);
  const all = perSecond * seconds;
  const started = performance.now();
  let sent = 0;
  return new Promise((resolve) => {
    const pump = () => {
      while (free.length > 0 && waiting.length > 0) {
        const { at, due } = waiting.shift();
        const one = free.pop();
        void one.ask(bytes[at % bytes.length]).then((status) => {
          times.push(performance.now() - due);
          statuses[status] = (statuses[status] ?? 0) + 1;
          free.push(one);
          if (times.length === all) {
            clearInterval(timer);
            for (const each of free) each.close();
            resolve({ times, statuses });
          } else pump();
        });
      }
    };
    const timer = setInterval(() => {
      for (; sent < all && performance.now() >= started + (sent * 1000) / perSecond; sent++)
        waiting.push({ at: sent, due: started + (sent * 1000) / perSecond });
      pump();
    }, 1);
  });
}

/** Sends the next request when the last one was answered, on each of `connections`. */
async function atATime({ requests, connections, seconds }) {
  const [times, statuses] = [[], {}];
  const bytes = bytesOf(requests[0]);
  const end = performance.now() + seconds * 1000;
  const one = async () => {
    const line = connection(new URL(requests[0].url));
    while (performance.now() < end) {
      const asked = performance.now();
      const status = await line.ask(bytes);
      times.push(performance.now() - asked);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
    line.close();
  };
  await Promise.all(Array.from({ length: connections }, () => one()));
  return { times, statuses };
}

/** Reads a stream until it is told to stop. @returns milliseconds between its pieces */
function readStream(what) {
  const gaps = [];
  let last;
  const { hostname, port } = new URL(what.url);
  const socket = connect(Number(port), hostname, () => socket.write(bytesOf(what)));
  socket.on('data', () => {
    const now = performance.now();
    if (last !== undefined) gaps.push(now - last);
    last = now;
  });
  return { gaps, stop: () => socket.destroy() };
}

process.on('message', async (job) => {
  const stream = job.stream && readStream(job.stream);
  const result = await (job.perSecond ? atRate(job) : atATime(job));
  stream?.stop();
  process.send({ ...result, gaps: stream?.gaps });
});
