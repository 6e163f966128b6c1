/** Answers POST /run like a container, after a while that its argument says (milliseconds); streams until the caller leaves. */
import { createServer } from 'node:http';

const waitMs = Number(process.argv[2] ?? 0);
const JSON_TYPE = 'application/json; charset=utf-8';
const DONE = JSON.stringify({ error: null, output: [{ label: 'POSITIVE', score: 0.9 }] });

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    if (JSON.parse(Buffer.concat(chunks)).stream) return stream(response);
    const answer = () => response.setHeader('Content-Type', JSON_TYPE).end(DONE);
    if (waitMs > 0) setTimeout(answer, waitMs);
    else answer();
  });
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));

function stream(response) {
  response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
  const timer = setInterval(() => response.write(`${process.hrtime.bigint()} `), 20);
  response.once('close', () => clearInterval(timer));
}
