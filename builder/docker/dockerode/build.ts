import type { Readable } from 'node:stream';
import type Dockerode from 'dockerode';
import { BuilderError } from '../../exit.js';
import type { BuildOptions } from '../docker.js';
import { followProgress } from './progress.js';

/** Sends the context and follows the build to its end. */
export async function build(
  client: Dockerode,
  context: Readable,
  options: BuildOptions,
  onLine: (line: string) => void,
) {
  const abort = new AbortController();
  const broken = new Promise<never>((_, reject) => {
    context.once('error', (error) => {
      abort.abort();
      reject(
        new BuilderError('failure', `the build context can't be read: ${error.message}`, { cause: error }),
      );
    });
  });
  const request = {
    // The engine accepts several `t` parameters; the library's type allows only one.
    t: options.references as unknown as string,
    forcerm: true,
    abortSignal: abort.signal,
    ...(options.buildArgs === undefined ? {} : { buildargs: options.buildArgs }),
    ...(options.platform === undefined ? {} : { platform: options.platform }),
  };
  await Promise.race([buildAndFollow(client, context, request, onLine), broken]);
}

async function buildAndFollow(
  client: Dockerode,
  context: Readable,
  request: Dockerode.ImageBuildOptions,
  onLine: (line: string) => void,
): Promise<void> {
  const stream = await client.buildImage(context, request);
  await followProgress({ client, stream, what: 'docker build', onLine });
}
