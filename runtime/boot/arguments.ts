import { ConfigError } from './config.js';

/** The command given by the arguments of `docker run <image>`. */
export type ImageCommand = { name: 'serve' } | { name: 'fetch'; verify: boolean };

const CHOICES =
  'nothing (serve the model), "fetch" (download and verify its files, then end), "fetch --verify" (hash all of them again)';

/** @throws ConfigError that lists the commands */
export function parseArguments(args: readonly string[]): ImageCommand {
  const [name, ...flags] = args;
  if (name === undefined) return { name: 'serve' };
  const unknown = name === 'fetch' ? flags.find((flag) => flag !== '--verify') : name;
  if (unknown === undefined) return { name: 'fetch', verify: flags.length > 0 };
  throw new ConfigError(`unknown argument ${JSON.stringify(unknown.slice(0, 100))}; there is: ${CHOICES}`);
}
