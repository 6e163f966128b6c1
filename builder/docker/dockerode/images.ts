import { PassThrough, type Readable } from 'node:stream';
import type Dockerode from 'dockerode';
import { BuilderError } from '../../exit.js';
import type { HistoryEntry, ImageDetails, ImageSummary } from '../docker.js';
import { isNotFound, explainEngineError, withEngineErrors } from '../engine-errors.js';
import { followProgress } from './progress.js';

export async function inspectImage(client: Dockerode, reference: string): Promise<ImageDetails | undefined> {
  const found = await isNotFound(client.getImage(reference).inspect());
  if (found === undefined) return undefined;
  const { Config, RootFS } = found;
  return {
    id: found.Id,
    references: names(found.RepoTags),
    labels: Config.Labels ?? {},
    size: found.Size,
    platform: `${found.Os}/${found.Architecture}`,
    layers: RootFS?.Layers ?? [],
    env: Config.Env ?? [],
    entrypoint: [Config.Entrypoint ?? []].flat(),
    command: Config.Cmd ?? [],
    settings: { ...Config },
  };
}

export async function listImages(client: Dockerode, label?: string): Promise<ImageSummary[]> {
  const images = await client.listImages(label === undefined ? {} : { filters: { label: [label] } });
  return images
    .map((image) => ({
      id: image.Id,
      labels: image.Labels ?? {},
      size: image.Size,
      references: names(image.RepoTags),
      created: image.Created,
    }))
    .sort((a, b) => b.created - a.created);
}

/** Old engines list images without a name under a placeholder. */
function names(tags: string[] | null | undefined): string[] {
  return (tags ?? []).filter((tag) => tag !== '<none>:<none>');
}

export async function imageHistory(client: Dockerode, reference: string): Promise<HistoryEntry[]> {
  const entries = (await client.getImage(reference).history()) as { CreatedBy: string; Size: number }[];
  return entries.map(({ CreatedBy, Size }) => ({ createdBy: CreatedBy, size: Size }));
}

export async function saveImages(client: Dockerode, references: readonly string[]): Promise<Readable> {
  // The types of the library lack this call.
  const { getImages } = client as unknown as { getImages(options: object): Promise<Readable> };
  return explainedStream(await getImages.call(client, { names: references }));
}

/** Passes bytes through and explains errors as for other calls. */
function explainedStream(source: Readable): Readable {
  const told = new PassThrough();
  source.once('error', (error) => told.destroy(explainEngineError(error)));
  told.once('close', () => source.destroy());
  return source.pipe(told);
}

const LOADED = /^Loaded image(?: ID)?: (\S+)/;

/** Sends the tar; if the tar stream fails, its error is the error of the load. */
export async function loadImages(
  client: Dockerode,
  tar: Readable,
  onLine: (line: string) => void,
): Promise<string[]> {
  const abort = new AbortController();
  const broken = new Promise<never>((_, reject) => {
    tar.once('error', (error) => {
      abort.abort();
      reject(error instanceof BuilderError ? error : unreadable(error));
    });
  });
  const loaded: string[] = [];
  const take = (line: string) => {
    const name = LOADED.exec(line)?.[1];
    if (name !== undefined) loaded.push(name);
    onLine(line);
  };
  await Promise.race([loadAndFollow(client, { tar, abort, onLine: take }), broken]);
  return loaded;
}

function unreadable(error: Error): BuilderError {
  return new BuilderError('failure', `the image tar can't be read: ${error.message}`, { cause: error });
}

interface Load {
  tar: Readable;
  abort: AbortController;
  onLine: (line: string) => void;
}

async function loadAndFollow(client: Dockerode, { tar, abort, onLine }: Load): Promise<void> {
  const stream = await client.loadImage(tar, { abortSignal: abort.signal });
  await followProgress({ client, stream, what: 'docker load', onLine });
}

/** Reads a path of an image's file system as a tar, from a container that is never started. */
export async function readImage<T>(
  client: Dockerode,
  { reference, path }: { reference: string; path: string },
  use: (tar: Readable) => Promise<T>,
): Promise<T | undefined> {
  const container = await client.createContainer({ Image: reference, Cmd: ['none'] });
  try {
    const tar = await isNotFound(container.getArchive({ path }));
    return tar && (await use(explainedStream(tar as Readable)));
  } finally {
    await withEngineErrors(() => container.remove({ force: true, v: true }));
  }
}
