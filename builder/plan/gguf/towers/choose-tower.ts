import type { ModelInfo } from '../../../../runtime/core/spec.js';
import { readGgufModel } from '../../../../runtime/gguf/index.js';
import { chooseMmproj, type GgufVariant } from '../../../../runtime/store/choose-gguf.js';
import { type ModelSource, rangesOf } from '../../../../runtime/store/source.js';
import { WeightsError } from '../../../../runtime/weights/index.js';
import { Refusal } from '../../refusal.js';
import { type OpenTower, openTower, WORDS } from './open-tower.js';
import type { Medium } from './tower-facts.js';

/** The mmproj file that is read beside a model. */
export interface ChosenTower extends OpenTower {
  variant: GgufVariant;
  /** Why this one. */
  reason: string;
}

export interface TowerChoice {
  tower?: ChosenTower;
  /** Why media are not read, though there is a file for them. */
  note?: string;
}

/** What tasks read. */
const MEDIA: Readonly<Record<string, Medium>> = {
  'image-text-to-text': 'vision',
  'audio-text-to-text': 'audio',
};

const mediumOf = (task: string | undefined): Medium | undefined =>
  task !== undefined && Object.hasOwn(MEDIA, task) ? MEDIA[task] : undefined;

export interface TowerRequest {
  source: Pick<ModelSource, 'read'>;
  info: ModelInfo;
  variants: readonly GgufVariant[];
  task?: string | undefined;
  /** The mmproj file that the operator asked for, by its label, its path or its name. */
  mmproj?: string | undefined;
  /** What the operator asked to compute the model with. */
  asked: 'llama' | 'own' | undefined;
}

/**
 * Chooses the mmproj file of a repository and reads its header.
 * @throws Refusal where media are asked for and can't be read; StoreError when the source fails
 */
export async function chooseTower(request: TowerRequest): Promise<TowerChoice> {
  const { source, info, variants, task, asked, mmproj } = request;
  const choice = chooseMmproj(variants, mmproj);
  const wanted = mediumOf(task);
  if (mmproj !== undefined && task !== undefined && !wanted)
    throw new Refusal(`${info.id}: --task ${task} reads no mmproj file`, 'leave out --mmproj');
  if (!choice && wanted)
    throw new Refusal(`${info.id} has no mmproj file, so it reads no ${WORDS[wanted]}`, 'use --task chat');
  if (!choice || (task !== undefined && !wanted)) return {};
  const { path } = choice.variant;
  if (asked === 'llama')
    return unread(request, `${path} is read beside graphs of ours alone`, 'leave out --engine llama');
  try {
    const opened = openTower(await readGgufModel(rangesOf(source, info), path));
    const { medium } = opened.facts;
    if (wanted && medium !== wanted)
      return unread(request, `${path} reads ${WORDS[medium]}, no ${WORDS[wanted]}`);
    return { tower: { ...choice, ...opened } };
  } catch (error) {
    if (error instanceof WeightsError) return unread(request, error.reason, error.remedy);
    throw error;
  }
}

/** Texts are served all the same. @throws Refusal where media are asked for */
function unread(
  { info, task, mmproj }: Pick<TowerRequest, 'info' | 'task' | 'mmproj'>,
  why: string,
  remedy?: string,
): TowerChoice {
  if (mediumOf(task) || mmproj !== undefined) throw new Refusal(`${info.id}: ${why}`, remedy);
  return { note: `pictures and sounds are not read: ${why}` };
}
