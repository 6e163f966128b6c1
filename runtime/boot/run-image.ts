import { parseArguments } from './arguments.js';
import { ConfigError, readServerSettings } from './config.js';
import type { Early } from './early.js';
import { DeviceError } from '../engines/sessions/device.js';
import { fetchModel } from './fetch-model.js';
import { serve } from './serve.js';

/** Runs the command of an image. Ends the process where it fails: 2 where settings are at fault, with a line that says why. */
export async function runImage(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  early?: Early,
): Promise<void> {
  try {
    const command = parseArguments(args);
    await (command.name === 'fetch' ? fetchModel(readServerSettings(env), command) : serve(env, early));
  } catch (error) {
    const plain = error instanceof ConfigError || error instanceof DeviceError;
    process.stderr.write(`slipway: ${plain ? error.message : String((error as Error).stack ?? error)}\n`);
    process.exit(plain ? 2 : 1);
  }
}
