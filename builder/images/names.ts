import type { ModelSpec } from '../../runtime/core/spec.js';
import { BuilderError } from '../exit.js';

const COMPONENT = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const HOST = '(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?(?::\\d{1,5})?\\/)?';
const REPOSITORY = new RegExp(`^${HOST}${COMPONENT}(?:\\/${COMPONENT})*$`);
const LONGEST = 255;

/** Image repository and folder of a model, and the tags of one build. */
export interface ImageName {
  /** `{namespace}/{org}_{model-name}` in lower case. */
  repository: string;
  /** The part after the namespace. */
  folder: string;
  /** Full references: `latest` first, then the commit. */
  references: string[];
}

/** A commit as used in tags: its first characters; the commit of a local folder unshortened. */
export function shortCommit(commit: string): string {
  return commit.startsWith('local-') ? commit : commit.slice(0, 12);
}

/** @throws BuilderError `refused` when the id gives no legal repository name, `usage` when the namespace is at fault */
export function imageName(
  spec: Pick<ModelSpec, 'id' | 'commit'>,
  namespace: string,
  variant?: string,
): ImageName {
  checkNamespace(namespace);
  const folder = spec.id.replace('/', '_').toLowerCase();
  const repository = `${namespace}/${folder}`;
  if (!REPOSITORY.test(repository) || repository.length > LONGEST) {
    throw new BuilderError(
      'refused',
      `${spec.id} gives no legal image name: "${repository}" (a part must start and end with a letter or digit, ` +
        `with single separators between); copy the model to a repository or folder with a plainer name`,
    );
  }
  return {
    repository,
    folder,
    references: ['latest', shortCommit(spec.commit)].map(
      (tag) => `${repository}:${tag}${variant === undefined ? '' : `-${variant}`}`,
    ),
  };
}

function checkNamespace(namespace: string): void {
  if (REPOSITORY.test(namespace) && namespace.length <= LONGEST / 2) return;
  throw new BuilderError(
    'usage',
    `--namespace "${namespace}" is no legal image namespace; use e.g. "slipway"`,
  );
}

export interface RuntimeImageKey {
  namespace: string;
  profile: string;
  device: string;
  version: string;
  /** Hex digest of the image's content. */
  digest: string;
}

/** Reference of a runtime image; equal content gives an equal name. */
export function runtimeImageName({ namespace, profile, device, version, digest }: RuntimeImageKey): string {
  checkNamespace(namespace);
  return `${namespace}/runtime:${profile}-${device}-${version}-${digest.slice(0, 12)}`;
}
