import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import tar from 'tar-stream';
import type {
  BuildOptions,
  ContainerOptions,
  Docker,
  ImageDetails,
  ImageSummary,
} from '../../builder/docker/docker.js';
import type { IsolatedContainer, IsolatedOptions } from '../../builder/docker/isolated.js';
import type { MadeContainer } from '../../builder/docker/made.js';
import { BuilderError } from '../../builder/exit.js';

export interface FakeBuild extends BuildOptions {
  /** Members of the context by path. */
  members: Map<string, { text: string; mode: number; mtime: number; uid: number; type: string }>;
}

export interface FakeDocker extends Docker {
  images: Map<string, ImageSummary & ImageDetails>;
  /** Platform of the base images that this engine holds; what a build gives is for it. */
  basePlatform?: string;
  builds: FakeBuild[];
  containers: ContainerOptions[];
  /** What saving a reference gives. */
  archives: Map<string, Buffer>;
  /** Tars that were loaded. */
  loads: Buffer[];
  /** Containers that are there. */
  there: MadeContainer[];
  histories: Map<string, string[]>;
  /** What a container without a network does; the test says it. */
  isolate?: (options: IsolatedOptions) => Promise<IsolatedContainer>;
}

/** A Docker in memory. A build reads its whole context and gives the image the labels that its Dockerfile names. */
export function fakeDocker(platform = 'linux/amd64'): FakeDocker {
  const images: FakeDocker['images'] = new Map();
  const builds: FakeBuild[] = [];
  const containers: ContainerOptions[] = [];
  const fake: FakeDocker = {
    images,
    builds,
    containers,
    there: [],
    histories: new Map(),
    made: {
      list: async () => [...fake.there],
      logs: async (id, { onOutput }) => onOutput(`log of ${id}\n`),
      async stop(id) {
        for (const each of fake.there) if (each.id === id) each.state = 'exited';
      },
      async remove(id) {
        fake.there = fake.there.filter((each) => each.id !== id);
      },
      imagesInUse: async () => new Set(fake.there.map(({ imageId }) => imageId)),
    },
    archives: new Map(),
    loads: [],
    info: async () => ({
      version: '0',
      apiVersion: '1.41',
      storage: 'memory',
      platform,
      devices: ['cpu'] as const,
    }),
    inspectImage: async (reference) =>
      images.get(reference) ?? [...images.values()].find(({ id }) => id === reference),
    async buildImage(context, options, onLine) {
      const members = await membersOf(context);
      builds.push({ ...options, members });
      onLine('built');
      const labels = labelsOf(members.get('Dockerfile')!.text);
      const image = {
        id: `sha256:${builds.length}`,
        labels,
        size: 1,
        references: [...options.references],
        created: 0,
        platform: fake.basePlatform ?? options.platform ?? platform,
        layers: [],
        env: [],
        entrypoint: [],
        command: [],
        settings: {},
      };
      for (const reference of options.references) images.set(reference, image);
    },
    listImages: async (label) =>
      [...new Set(images.values())].filter((image) => label === undefined || label in image.labels),
    async tagImage(reference, target) {
      const image = [...images.values()].find(({ id }) => id === reference) ?? images.get(reference);
      if (!image) throw new Error(`no image ${reference}`);
      images.set(target, image);
    },
    imageHistory: async (id) => (fake.histories.get(id) ?? []).map((createdBy) => ({ createdBy, size: 0 })),
    removeImage: async (reference) => void images.delete(reference),
    async saveImages(references) {
      const archive = fake.archives.get(references[0]!);
      if (!archive) throw new BuilderError('failure', `Docker: no such image: ${references[0]}`);
      return Readable.from([archive]);
    },
    async loadImages(tar) {
      fake.loads.push(await buffer(tar));
      return [];
    },
    readImage: async () => undefined,
    async startIsolated(options) {
      if (!fake.isolate) throw new Error('the test has not said what the container does');
      return fake.isolate(options);
    },
    async startContainer(options) {
      containers.push(options);
      return {
        id: 'c1',
        port: options.hostPort,
        memory: async () => undefined,
        wait: async () => 1,
        release: () => undefined,
        stop: async () => undefined,
      };
    },
  };
  return fake;
}

export async function membersOf(context: Readable): Promise<FakeBuild['members']> {
  const members: FakeBuild['members'] = new Map();
  const extract = tar.extract();
  context.once('error', (error) => extract.destroy(error));
  context.pipe(extract);
  for await (const entry of extract) {
    const chunks: Buffer[] = [];
    for await (const chunk of entry) chunks.push(chunk as Buffer);
    const { name, mode, mtime, uid, type } = entry.header;
    const text = Buffer.concat(chunks).toString('utf8');
    members.set(name, { text, mode, mtime: Number(mtime) / 1000, uid, type });
  }
  return members;
}

function labelsOf(dockerfile: string): Record<string, string> {
  const pairs = dockerfile.matchAll(/"(io\.slipway\.[a-z]+)"="((?:[^"\\]|\\.)*)"/g);
  return Object.fromEntries([...pairs].map(([, name, value]) => [name!, value!.replace(/\\(.)/g, '$1')]));
}
