import { beginEarly } from './early.js';
import { NO_TELEMETRY, WHOLE_FLOATS } from './engine-environment.js';

/** Entry of the server inside every image. What has its place here is small: the rest is loaded while the engine starts. */
async function main(args: readonly string[]): Promise<void> {
  // For INLINE, where the engine runs in this process; a child gets it in its environment.
  Object.assign(process.env, { ...WHOLE_FLOATS, ...process.env, ...NO_TELEMETRY });
  const early = args.length === 0 ? beginEarly(process.env) : undefined;
  const { runImage } = await import('./run-image.js');
  await runImage(args, process.env, early);
}

await main(process.argv.slice(2));
