import { createHash } from 'node:crypto';
import type { Docker } from '../docker/docker.js';
import { readBytes } from '../docker/read-file.js';
import { BuilderError } from '../exit.js';
import type { Platform } from './platform.js';
import { type ContextEntry, tarStream } from './tar.js';

/** Where the build puts its files as one archive. */
const ARCHIVE = '/opt/ffmpeg.tar';

/** What is compiled, for what, and on which base of the engine's own platform. */
export interface CrossCompilation {
  namespace: string;
  /** `templates/ffmpeg.sh`. */
  script: ContextEntry;
  platform: Platform;
  hostBase: string;
}

/**
 * ffmpeg for another platform than the engine's. A cross compiler makes it on the engine's own base in the minutes that a native
 * build takes; emulated, the compiler takes ten times as long. Nothing but the engine's build cache is left behind.
 * @returns a tar of files below `/`
 */
export async function crossCompiledFfmpeg(
  compilation: CrossCompilation,
  engine: { docker: Docker; onLine: (line: string) => void; buildArgs?: Record<string, string> },
): Promise<Buffer> {
  const { docker, onLine, buildArgs } = engine;
  const dockerfile = compilerDockerfile(compilation);
  const reference = temporaryName(compilation, dockerfile);
  const context = tarStream([compilation.script, { path: 'Dockerfile', content: dockerfile }]);
  const options = { references: [reference], ...(buildArgs === undefined ? {} : { buildArgs }) };
  await docker.buildImage(context, options, onLine);
  try {
    const archive = await readBytes(docker, { reference, path: ARCHIVE });
    if (archive?.length) return archive;
  } finally {
    await docker.removeImage(reference);
  }
  throw new BuilderError(
    'failure',
    `the compiled ffmpeg for ${compilation.platform} was not found in its image; build again`,
  );
}

/** Of two stages, so that the image that is read holds no compiler. */
function compilerDockerfile({ hostBase, platform }: CrossCompilation): string {
  return `FROM ${hostBase} AS compiler
COPY ffmpeg.sh /
RUN sh /ffmpeg.sh ${architectureOf(platform)} && \\
  tar -C /opt/ffmpeg --sort=name --owner=0 --group=0 --numeric-owner -cf ${ARCHIVE} .

FROM ${hostBase}
COPY --from=compiler ${ARCHIVE} ${ARCHIVE}
`;
}

function temporaryName({ namespace, platform, script }: CrossCompilation, dockerfile: string): string {
  const digest = createHash('sha256').update(dockerfile).update(String(script.content)).digest('hex');
  return `${namespace}/ffmpeg:${architectureOf(platform)}-${digest.slice(0, 12)}-${process.pid}`;
}

const architectureOf = (platform: Platform): string => platform.split('/')[1]!;
