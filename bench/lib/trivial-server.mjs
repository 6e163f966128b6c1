/** Answers every request at once with as many bytes as an embedding has: what the load generator can do at best. */
import { createServer } from 'node:http';

const answer = JSON.stringify({ output: Array.from({ length: 384 }, (_, i) => Math.sin(i)) });
const server = createServer((request, response) => {
  request.resume();
  request.once('end', () => {
    response.setHeader('content-type', 'application/json');
    response.end(answer);
  });
});
server.listen(0, '127.0.0.1', () => process.send(server.address().port));
