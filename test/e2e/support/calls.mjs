/**
 * Calls a model again and again, one call at a time, and prints a line of JSON for each: its status and milliseconds.
 * Usage: node calls.mjs URL KEY BODY SECONDS
 */
const [url, key, body, seconds] = process.argv.slice(2);
const headers = { authorization: `Key ${key}`, 'content-type': 'application/json' };
const end = Date.now() + Number(seconds) * 1000;
while (Date.now() < end) {
  const started = Date.now();
  const signal = AbortSignal.timeout(60_000);
  const status = await fetch(url, { method: 'POST', headers, body, signal }).then(
    async (answer) => {
      await answer.arrayBuffer();
      return answer.status;
    },
    (error) => error.message,
  );
  console.log(JSON.stringify({ status, ms: Date.now() - started }));
  await new Promise((resolve) => setTimeout(resolve, 100));
}
