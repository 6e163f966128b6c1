// HEALTHCHECK of the image: exit 0 when the server says that it is ready. No curl is needed in the image.
const port = process.env.PORT || 80;
try {
  const answer = await fetch(`http://127.0.0.1:${port}/health`, { signal: AbortSignal.timeout(4000) });
  process.exit(answer.ok ? 0 : 1);
} catch {
  process.exit(1);
}
