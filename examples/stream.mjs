// Prints text as a model writes it, and leaves after some time: the server then stops writing.
// Usage: KEY=... node examples/stream.mjs http://localhost:8080 "Once upon a time" [seconds]
const [url = 'http://localhost:8080', text = 'Once upon a time', seconds = '10'] = process.argv.slice(2);

const response = await fetch(`${url}/run`, {
  method: 'POST',
  headers: {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    authorization: `Bearer ${process.env['KEY'] ?? ''}`,
  },
  body: JSON.stringify({ text, stream: true, params: { max_new_tokens: 200 } }),
  signal: AbortSignal.timeout(Number(seconds) * 1000),
});
if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);

// Server-sent events: pieces of text, at the end one with the whole answer and its usage, or one with an error.
let rest = '';
for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
  const events = (rest + piece).split('\n\n');
  rest = events.pop();
  for (const event of events) {
    const lines = event.split('\n');
    const name = lines.find((line) => line.startsWith('event: '))?.slice('event: '.length);
    const data = JSON.parse(lines.find((line) => line.startsWith('data: '))?.slice('data: '.length) ?? '{}');
    if (name === undefined) process.stdout.write(data.text);
    if (name === 'final') console.log(`\n${JSON.stringify(data.usage)}`);
    if (name === 'error') throw new Error(data.error);
  }
}
