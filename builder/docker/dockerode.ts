import { createRequire } from 'node:module';
import type Dockerode from 'dockerode';
import type { Docker, EngineInfo } from './docker.js';
import { build } from './dockerode/build.js';
import { start } from './dockerode/containers.js';
import { engineDevices } from './dockerode/gpus.js';
import {
  ensureNetwork,
  lastLine,
  listServers,
  prepareServer,
  removeServer,
  serverEnd,
} from './dockerode/fleet.js';
import {
  imageHistory,
  inspectImage,
  listImages,
  loadImages,
  readImage,
  saveImages,
} from './dockerode/images.js';
import { madeContainers } from './dockerode/made.js';
import { startIsolated } from './dockerode/isolated.js';
import { BuilderError } from '../exit.js';
import { isNotFound, withEngineErrors } from './engine-errors.js';
import type { Fleet } from './fleet.js';

/** A Docker that uses dockerode: the engine at DOCKER_HOST, else at the local socket. */
export function dockerodeDocker(options?: Dockerode.DockerOptions): Docker {
  const client = lazyClient(options);
  return {
    info: () => withEngineErrors(() => engineInfo(client())),
    inspectImage: (reference) => withEngineErrors(() => inspectImage(client(), reference)),
    imageHistory: (reference) => withEngineErrors(() => imageHistory(client(), reference)),
    buildImage: (context, options, onLine) =>
      withEngineErrors(() => build(client(), context, options, onLine)),
    listImages: (label) => withEngineErrors(() => listImages(client(), label)),
    async tagImage(reference, target) {
      const colon = target.lastIndexOf(':');
      await withEngineErrors(() =>
        client()
          .getImage(reference)
          .tag({ repo: target.slice(0, colon), tag: target.slice(colon + 1) }),
      );
    },
    async removeImage(reference) {
      await withEngineErrors(() => isNotFound(client().getImage(reference).remove()));
    },
    saveImages: (references) => withEngineErrors(() => saveImages(client(), references)),
    loadImages: (tar, onLine) => withEngineErrors(() => loadImages(client(), tar, onLine)),
    readImage: (at, use) => withEngineErrors(() => readImage(client(), at, use)),
    startContainer: (options) => withEngineErrors(() => start(client(), options)),
    made: madeContainers(client),
    startIsolated: (options) => withEngineErrors(() => startIsolated(client(), options)),
  };
}

/** A Fleet that uses dockerode, with the same engine. */
export function dockerodeFleet(options?: Dockerode.DockerOptions): Fleet {
  const client = lazyClient(options);
  return {
    info: () => withEngineErrors(() => engineInfo(client())),
    listImages: (label) => withEngineErrors(() => listImages(client(), label)),
    ensureNetwork: (network) => withEngineErrors(() => ensureNetwork(client(), network)),
    prepare: (options) => withEngineErrors(() => prepareServer(client(), options)),
    list: (label) => withEngineErrors(() => listServers(client(), label)),
    ended: (id) => serverEnd(client(), id),
    lastLine: (id) => withEngineErrors(() => lastLine(client(), id)),
    remove: (id, graceSeconds) => withEngineErrors(() => removeServer(client(), id, graceSeconds)),
  };
}

/** Created at the first call, since loading the library doubles the start time of the command line. */
function lazyClient(options?: Dockerode.DockerOptions): () => Dockerode {
  let client: Dockerode | undefined;
  return () => (client ??= connect(options));
}

/** @throws BuilderError when DOCKER_HOST can't be read */
function connect(options?: Dockerode.DockerOptions): Dockerode {
  const Client = createRequire(import.meta.url)('dockerode') as typeof Dockerode;
  try {
    return new Client(options);
  } catch (error) {
    throw new BuilderError('docker', (error as Error).message, { cause: error });
  }
}

async function engineInfo(client: Dockerode): Promise<EngineInfo> {
  const [info, version] = await Promise.all([client.info(), client.version()]);
  return {
    version: version.Version,
    apiVersion: version.ApiVersion,
    storage: info.Driver,
    platform: `${version.Os}/${version.Arch}`,
    devices: engineDevices(info),
  };
}
