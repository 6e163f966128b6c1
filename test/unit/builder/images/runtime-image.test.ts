import { mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { DockerfileParser } from 'dockerfile-ast';
import tar from 'tar-stream';
import {
  ensureRuntimeImage,
  planRuntimeImage,
  renderRuntimeDockerfile,
  type RuntimeChoice,
} from '../../../../builder/images/runtime-image.js';
import { GPU_PACKAGES } from '../../../../builder/images/gpu-packages.js';
import { packageParts } from '../../../../builder/images/packages.js';
import { hostPlatform } from '../../../../builder/images/platform.js';
import { fakeDocker } from '../../../fakes/docker.js';

const choice: RuntimeChoice = {
  namespace: 'slipway',
  profile: 'text',
  device: 'cpu',
  platform: hostPlatform(),
  baseImage: 'node:24-bookworm-slim',
  version: '1.2.3',
};

/** A package root with the real modules and templates around a server of one line. */
async function packageRoot(server = 'export {};'): Promise<string> {
  const root = await mkdtemp(path.join(tmpdir(), 'slipway-root-'));
  await mkdir(path.join(root, 'dist/image'), { recursive: true });
  await writeFile(path.join(root, 'dist/image/main.mjs'), server);
  for (const name of ['templates', 'node_modules', 'package.json'])
    await symlink(path.resolve(name), path.join(root, name));
  return root;
}

const plans = new Map<string, ReturnType<typeof planRuntimeImage>>();

/** A plan is data: those that hash the same libraries for the same choice are made once. */
function planned(changes: Partial<RuntimeChoice> = {}) {
  const key = JSON.stringify(changes);
  const plan = plans.get(key) ?? plannedAnew(changes);
  plans.set(key, plan);
  return plan;
}

async function plannedAnew(changes: Partial<RuntimeChoice> = {}, server?: string) {
  const root = await packageRoot(server);
  return planRuntimeImage({ packageRoot: root, cache: path.join(root, 'cache') }, { ...choice, ...changes });
}

const paths = (image: Awaited<ReturnType<typeof planned>>) => image.entries.map((entry) => entry.path);

describe('content of a runtime image', () => {
  test('text: server, health check, an open folder for weights, one ONNX Runtime, no image library', async () => {
    const image = await planned();
    const arch = process.arch;
    expect(paths(image)).toEqual(
      expect.arrayContaining([
        'server/server/main.mjs',
        'server/server/healthcheck.mjs',
        'packages/server/node_modules/onnxruntime-common/dist/cjs/index.js',
        'packages/server/node_modules/onnxruntime-node/dist/index.js',
        `packages/server/node_modules/onnxruntime-node/bin/napi-v6/linux/${arch}/libonnxruntime.so.1`,
        `packages/server/node_modules/onnxruntime-node/bin/napi-v6/linux/${arch}/onnxruntime_binding.node`,
      ]),
    );
    expect(image.entries.find((entry) => entry.path === 'server/server/model/')).toMatchObject({
      mode: 0o1777,
    });
    expect(paths(image).filter((file) => /sharp|win32|darwin|\.d\.c?ts$|\.map$/.test(file))).toEqual([]);
    const natives = paths(image).filter((file) => file.includes('/napi-v6/'));
    expect(natives.every((file) => file.includes(`/linux/${arch}/`))).toBe(true);
  });

  test('vision: the image library with its native halves and all that it requires', async () => {
    const image = await planned({ profile: 'vision' });
    expect(paths(image)).toEqual(
      expect.arrayContaining([
        'packages/server/node_modules/sharp/dist/index.mjs',
        'packages/server/node_modules/sharp/package.json',
        'packages/server/node_modules/semver/index.js',
        'packages/server/node_modules/detect-libc/lib/detect-libc.js',
        'packages/server/node_modules/@img/colour/index.cjs',
        `packages/server/node_modules/@img/sharp-linux-${process.arch}/package.json`,
      ]),
    );
    expect(paths(image).some((file) => /sharp-libvips-linux-\w+\/lib\/libvips-cpp\.so/.test(file))).toBe(
      true,
    );
  });

  test('the name follows the content', async () => {
    const [first, same, other] = [
      await planned(),
      await plannedAnew(),
      await plannedAnew({}, 'export default 1;'),
    ];
    expect(first.name).toMatch(/^slipway\/runtime:text-cpu-1\.2\.3-[0-9a-f]{12}$/);
    expect(same.name).toBe(first.name);
    expect(other.name).not.toBe(first.name);
    expect((await planned({ baseImage: 'node:22-bookworm-slim' })).name).not.toBe(first.name);
  });

  test('without a built server it says what to run', async () => {
    const root = await mkdtemp(path.join(tmpdir(), 'slipway-root-'));
    for (const name of ['templates', 'node_modules', 'package.json'])
      await symlink(path.resolve(name), path.join(root, name));
    const plan = planRuntimeImage({ packageRoot: root, cache: root }, choice);
    await expect(plan).rejects.toThrow('npm run build');
  });

  test.each(['cuda', 'vulkan'] as const)('%s has no build but for amd64', async (device) => {
    await expect(planned({ profile: 'llama', device, platform: 'linux/arm64' })).rejects.toMatchObject({
      exit: 'usage',
    });
  });

  test('vulkan is for llama.cpp only, and the error names the device of others', async () => {
    const plan = planned({ device: 'vulkan', platform: 'linux/amd64' });
    await expect(plan).rejects.toThrow(/GGUF.*--device cuda/);
    await expect(plan).rejects.toMatchObject({ exit: 'usage' });
  });

  test.each(['cuda', 'vulkan'] as const)(
    'llama.cpp for %s takes the build of that device, of the version for processors',
    async (device) => {
      const name = `@node-llama-cpp/linux-x64-${device}`;
      const parts = packageParts('llama', 'linux/amd64', device);
      expect(parts.map((part) => part.name)).toEqual(['koffi', '@koromix/koffi-linux-x64', name]);
      expect(parts[2]!.keep).toContain(`bins/linux-x64-${device}/libggml*`);
      const lock = JSON.parse(readFileSync('npm-shrinkwrap.json', 'utf8')) as {
        packages: Record<string, { version: string }>;
      };
      expect(GPU_PACKAGES[name]!.version).toBe(
        lock.packages['node_modules/@node-llama-cpp/linux-x64']!.version,
      );
    },
  );
});

test('an image of that name is not built again', async () => {
  const docker = fakeDocker(choice.platform);
  const image = await planned();
  expect(await ensureRuntimeImage(image, { docker, onLine: () => undefined })).toEqual({ built: true });
  expect(await ensureRuntimeImage(image, { docker, onLine: () => undefined })).toEqual({ built: false });
  expect(docker.builds).toHaveLength(1);
});

test('a base for another platform is refused, and its image is not used later', async () => {
  const image = await planned();
  const docker = fakeDocker(hostPlatform());
  docker.basePlatform = 'linux/other';
  const build = () => ensureRuntimeImage(image, { docker, onLine: () => undefined });
  await expect(build()).rejects.toThrow(/base image \S+ here is for linux\/other.*docker pull --platform/);
  docker.basePlatform = image.platform;
  expect(await build()).toEqual({ built: true });
});

describe('audio and video for another platform than the engine’s', () => {
  const [host, other] = ['linux/amd64', 'linux/arm64'] as const;
  const changes = {
    profile: 'media',
    platform: other,
    baseImage: 'base-arm64',
    hostBase: 'base-amd64',
  } as const;

  test('ffmpeg is compiled on the engine’s own base, added, and its image removed', async () => {
    const docker = fakeDocker(host);
    const archive = tar.pack();
    archive.entry({ name: 'ffmpeg.tar' }, 'compiled');
    archive.finalize();
    docker.readImage = async ({ path: place }, use) => {
      expect(place).toBe('/opt/ffmpeg.tar');
      return use(Readable.from(archive));
    };
    const image = await planned(changes);
    await ensureRuntimeImage(image, { docker, onLine: () => undefined });
    const [compiler, runtime] = docker.builds;
    expect(compiler!.platform).toBeUndefined();
    expect(compiler!.members.get('Dockerfile')!.text).toMatch(
      /^FROM base-amd64 AS compiler\n[^]*RUN sh \/ffmpeg.sh arm64 /,
    );
    expect(runtime).toMatchObject({ platform: other, references: [image.name] });
    expect(runtime!.members.get('ffmpeg.tar')!.text).toBe('compiled');
    const dockerfile = runtime!.members.get('Dockerfile')!.text;
    expect(dockerfile).toMatch(/^FROM base-arm64$/m);
    expect(dockerfile).toMatch(/^ADD ffmpeg.tar \/$/m);
    expect(dockerfile).not.toMatch(/^RUN/m);
    expect([...docker.images.keys()]).toEqual([image.name]);
  });

  test('an engine of that platform compiles it in a stage', async () => {
    const docker = fakeDocker(other);
    await ensureRuntimeImage(await planned(changes), { docker, onLine: () => undefined });
    expect(docker.builds).toHaveLength(1);
    expect(docker.builds[0]!.members.get('Dockerfile')!.text).toMatch(/^RUN sh \/ffmpeg.sh$/m);
  });

  test('files that are not in the compiler’s image are an error, and no image is made', async () => {
    const docker = fakeDocker(host);
    const build = ensureRuntimeImage(await planned(changes), { docker, onLine: () => undefined });
    await expect(build).rejects.toThrow(/ffmpeg for linux\/arm64 was not found/);
    expect([...docker.images.keys()]).toEqual([]);
  });
});

describe.each([
  ['text', 'cpu', 'runtime.cpu'],
  ['text', 'cuda', 'runtime.cuda'],
  ['llama', 'cuda', 'runtime.llama-cuda'],
  ['llama', 'vulkan', 'runtime.llama-vulkan'],
] as const)('Dockerfile of profile %s for %s', (profile, device, name) => {
  const template = readFileSync(`templates/${name}.Dockerfile.eta`, 'utf8');
  const changes = { ...choice, profile, device };
  const text = renderRuntimeDockerfile(template, changes, 'https://feed.test/provider.nupkg');
  const parsed = DockerfileParser.parse(text);
  const keywords = parsed.getInstructions().map((instruction) => instruction.getKeyword());

  test('starts the server, says how it is, and builds with the classic builder', () => {
    expect(parsed.getENTRYPOINTs().map(String)).toEqual(['ENTRYPOINT ["node", "/server/main.mjs"]']);
    expect(parsed.getHEALTHCHECKs()).toHaveLength(1);
    expect(keywords).toEqual(expect.arrayContaining(['EXPOSE', 'STOPSIGNAL', 'LABEL']));
    expect(text).not.toMatch(/^#\s*syntax|--mount|<%|undefined/m);
  });

  test('declares no volume, which would lose weights on commit, and no user, who could not own a bind mount', () => {
    expect(keywords).not.toContain('VOLUME');
    expect(keywords).not.toContain('USER');
  });

  test('knows only instructions that exist', () => {
    const known = 'FROM COPY ENV WORKDIR EXPOSE STOPSIGNAL HEALTHCHECK LABEL ENTRYPOINT CMD ARG RUN'.split(
      ' ',
    );
    expect(keywords.filter((keyword) => !known.includes(keyword))).toEqual([]);
  });
});

test('the cpu image runs nothing while it is built', () => {
  const text = renderRuntimeDockerfile(
    readFileSync('templates/runtime.cpu.Dockerfile.eta', 'utf8'),
    choice,
    'https://feed.test/gpu.linux.1.30.0.nupkg',
  );
  expect(text).not.toMatch(/^RUN/m);
});

test('the cuda image refuses a provider whose hash nobody gave, and checks the one that it fetched', () => {
  const template = readFileSync('templates/runtime.cuda.Dockerfile.eta', 'utf8');
  const text = renderRuntimeDockerfile(
    template,
    { ...choice, device: 'cuda' },
    'https://feed.test/gpu.linux.1.30.0.nupkg',
  );
  expect(text).toMatch(/^ARG ORT_CUDA_SHA256$/m);
  expect(text).toMatch(/RUN test -n "\$ORT_CUDA_SHA256"[^\n]*exit 1/);
  expect(text).toContain('sha256sum -c -');
  expect(text).toContain('ARG ORT_CUDA_URL=https://feed.test/gpu.linux.1.30.0.nupkg');
});

test('a cuda image is not begun without the hash of its provider', async () => {
  const docker = fakeDocker('linux/amd64');
  const image = await planned({ device: 'cuda', platform: 'linux/amd64' });
  const onLine = () => undefined;
  await expect(ensureRuntimeImage(image, { docker, onLine })).rejects.toThrow(
    /--cuda-provider-sha256: the sha256 of https:\S+microsoft\.ml\.onnxruntime\.gpu\.linux\.1\.30\.0\.nupkg/,
  );
  const buildArgs = { ORT_CUDA_SHA256: 'a'.repeat(64) };
  await ensureRuntimeImage(image, { docker, onLine, buildArgs });
  expect(docker.builds).toEqual([expect.objectContaining({ buildArgs })]);
});

test('llama.cpp for cuda asks for no provider of ONNX Runtime', async () => {
  const docker = fakeDocker('linux/amd64');
  const image = { ...(await planned()), profile: 'llama' as const, device: 'cuda' as const };
  const build = ensureRuntimeImage(
    { ...image, platform: 'linux/amd64' },
    { docker, onLine: () => undefined },
  );
  expect(await build).toEqual({ built: true });
});
