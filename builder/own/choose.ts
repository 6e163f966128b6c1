import type { Docker } from '../docker/docker.js';
import type { MadeContainer } from '../docker/made.js';
import { BuilderError } from '../exit.js';
import { isMeant } from './own.js';

/**
 * The containers that are named, or all.
 * @throws BuilderError `usage` without a name, `failure` for a name that is no container of builder's
 */
export async function chosenContainers(
  docker: Docker,
  words: readonly string[],
  { all = false }: { all?: boolean },
): Promise<MadeContainer[]> {
  if (words.length === 0 && !all)
    throw new BuilderError('usage', 'name a container, its image or its model, or give --all');
  const there = await docker.made.list();
  if (all) return there;
  return [...new Set(words.flatMap((word) => meantBy(word, there)))];
}

/** @throws BuilderError `failure` unless exactly one container is meant */
export async function oneContainer(docker: Docker, word: string): Promise<MadeContainer> {
  const found = meantBy(word, await docker.made.list());
  if (found.length === 1) return found[0]!;
  const names = found.map(({ name, state }) => `${name} (${state})`).join(', ');
  throw new BuilderError('failure', `${word} means several containers: ${names}; give a name`);
}

function meantBy(word: string, containers: readonly MadeContainer[]): MadeContainer[] {
  const found = containers.filter((container) => isMeant(word, container));
  if (found.length > 0) return found;
  const names = containers.map(({ name }) => name).join(', ') || 'none';
  throw new BuilderError('failure', `${word} is no container that builder has started; there are: ${names}`);
}
