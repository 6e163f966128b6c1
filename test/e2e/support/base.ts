import { run } from './process.js';

const BASE = process.env.BASE_IMAGE ?? 'node:24-bookworm-slim';

/**
 * The base image under a name of this namespace, with the stamp in its configuration: nothing that is built on it comes
 * from the engine's cache, or is still there when the namespace's images have gone.
 */
export async function stampedBase(namespace: string): Promise<string> {
  const name = `${namespace}/base:test`;
  const dockerfile = `FROM ${BASE}\nLABEL stamp=${namespace}\n`;
  const { code, stderr } = await run('sh', [
    '-c',
    `printf '%s' "$0" | docker build --quiet --tag ${name} -`,
    dockerfile,
  ]);
  if (code !== 0) throw new Error(stderr);
  return name;
}
