import type { Readable } from 'node:stream';
import tar from 'tar-stream';
import type {
  BuildOptions,
  ContainerOptions,
  Docker,
  ImageDetails,
  ImageSummary,
} from '../../builder/docker/docker.js';

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
    info: async () => ({ version: '0', apiVersion: '1.41', storage: 'memory', platform, nvidia: false }),
    inspectImage: async (reference) => images.get(reference),
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
      };
      for (const reference of options.references) images.set(reference, image);
    },
    listImages: async (label) => [...new Set(images.values())].filter((image) => label in image.labels),
    async tagImage(reference, target) {
      const image = [...images.values()].find(({ id }) => id === reference) ?? images.get(reference);
      if (!image) throw new Error(`no image ${reference}`);
      images.set(target, image);
    },
    async startContainer(options) {
      containers.push(options);
      return {
        id: 'c1',
        port: options.hostPort,
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
