import { PassThrough, type Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type Dockerode from 'dockerode';
import { isNotFound, withEngineErrors } from '../engine-errors.js';
import { isMade, type LogOptions, MADE_LABEL, type MadeContainer, type MadeContainers } from '../made.js';
import { stop } from './containers.js';

/** The containers of one engine. */
export function madeContainers(client: () => Dockerode): MadeContainers {
  return {
    list: () => withEngineErrors(() => list(client())),
    logs: (id, options) => withEngineErrors(() => logs(client(), id, options)),
    stop: (id, graceSeconds) => withEngineErrors(() => stop(client().getContainer(id), graceSeconds)),
    remove: (id) =>
      withEngineErrors(async () => void (await isNotFound(client().getContainer(id).remove({ v: true })))),
    imagesInUse: () =>
      withEngineErrors(async () => {
        const all = await client().listContainers({ all: true });
        return new Set(all.map(({ ImageID }) => ImageID));
      }),
  };
}

async function list(client: Dockerode): Promise<MadeContainer[]> {
  const found = await client.listContainers({ all: true, filters: { label: [MADE_LABEL] } });
  return found
    .map(({ Id, Names, Image, ImageID, Labels, State, Created }) => ({
      ...{ id: Id, name: Names[0]?.slice(1) ?? '', image: Image, imageId: ImageID },
      ...{ labels: Labels, state: State, created: Created },
    }))
    .filter(isMade)
    .sort((a, b) => b.created - a.created);
}

async function logs(
  client: Dockerode,
  id: string,
  { follow, tail, signal, onOutput }: LogOptions,
): Promise<void> {
  const options = { stdout: true, stderr: true, ...(tail === undefined ? {} : { tail }) };
  const text = new PassThrough({ encoding: 'utf8' }).on('data', onOutput);
  const container = client.getContainer(id);
  if (!follow) {
    // The engine sends all at once, in frames with a header of eight bytes.
    const sent = await container.logs({ ...options, follow: false });
    for (let at = 0; at + 8 <= sent.length;) {
      const end = at + 8 + sent.readUInt32BE(at + 4);
      text.write(sent.subarray(at + 8, end));
      at = end;
    }
    return void text.end();
  }
  const stream = (await container.logs({ ...options, follow: true, abortSignal: signal })) as Readable;
  client.modem.demuxStream(stream, text, text);
  await finished(stream, { writable: false }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
