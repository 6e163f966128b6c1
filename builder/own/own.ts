import { isModelId } from '../../runtime/core/ids.js';
import type { Docker, ImageSummary } from '../docker/docker.js';
import type { MadeContainer } from '../docker/made.js';
import { LABEL } from '../images/labels.js';

/** Whether a word of the command line means this container: its name, its id, its image or its model. */
export function isMeant(word: string, { id, name, image, imageId, labels }: MadeContainer): boolean {
  if (name === word || image === word || (isModelId(word) && labels[LABEL.model] === word)) return true;
  if (image === `${word}:latest`) return true;
  const hex = word.replace(/^sha256:/, '');
  return /^[0-9a-f]{8,64}$/.test(hex) && (id.startsWith(hex) || imageId.startsWith(`sha256:${hex}`));
}

/**
 * Whether builder has made the image. Images that people make from ours have our labels, too: theirs have other last steps.
 */
export async function isOurs(
  docker: Docker,
  { id, labels }: Pick<ImageSummary, 'id' | 'labels'>,
): Promise<boolean> {
  const steps = (await docker.imageHistory(id)).map(({ createdBy }) => createdBy);
  if (labels[LABEL.model] !== undefined) return isLabel(steps[0], LABEL.model);
  if (labels[LABEL.runtime] === undefined) return false;
  return (
    (steps[0] ?? '').includes('CMD []') && steps.slice(1, 3).some((step) => isLabel(step, LABEL.runtime))
  );
}

function isLabel(step: string | undefined, name: string): boolean {
  return step !== undefined && step.includes('LABEL ') && step.includes(`${name}=`);
}
