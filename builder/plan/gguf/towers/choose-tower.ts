import type { ModelInfo } from '../../../../runtime/core/spec.js';
import { readGgufModel } from '../../../../runtime/gguf/index.js';
import { chooseMmproj, type GgufVariant } from '../../../../runtime/store/choose-gguf.js';
import { type ModelSource, rangesOf } from '../../../../runtime/store/source.js';
import { WeightsError } from '../../../../runtime/weights/index.js';
import { Refusal } from '../../refusal.js';
import { type OpenTower, openTower } from './open-tower.js';

/** The mmproj file that is read beside a model. */
export interface ChosenTower extends OpenTower {
  variant: GgufVariant;
  /** Why this one. */
  reason: string;
}

export interface TowerChoice {
  tower?: ChosenTower;
  /** Why images are not read, though there is a file for them. */
  note?: string;
}

/** The task that reads images. */
const IMAGES = 'image-text-to-text';

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
 * @throws Refusal where images are asked for and can't be read; StoreError when the source fails
 */
export async function chooseTower(request: TowerRequest): Promise<TowerChoice> {
  const { source, info, variants, task, asked, mmproj } = request;
  const choice = chooseMmproj(variants, mmproj);
  if (mmproj !== undefined && task !== undefined && task !== IMAGES)
    throw new Refusal(`${info.id}: --task ${task} reads no mmproj file`, 'leave out --mmproj');
  if (!choice && task === IMAGES)
    throw new Refusal(`${info.id} has no mmproj file, so it reads no pictures`, 'use --task chat');
  if (!choice || (task !== undefined && task !== IMAGES)) return {};
  const { path } = choice.variant;
  if (asked === 'llama')
    return unread(request, `${path} is read beside graphs of ours alone`, 'leave out --engine llama');
  try {
    return { tower: { ...choice, ...openTower(await readGgufModel(rangesOf(source, info), path)) } };
  } catch (error) {
    if (error instanceof WeightsError) return unread(request, error.reason, error.remedy);
    throw error;
  }
}

/** Texts are served all the same. @throws Refusal where images are asked for */
export function unread(
  { info, task, mmproj }: Pick<TowerRequest, 'info' | 'task' | 'mmproj'>,
  why: string,
  remedy?: string,
): TowerChoice {
  if (task === IMAGES || mmproj !== undefined) throw new Refusal(`${info.id}: ${why}`, remedy);
  return { note: `pictures are not read: ${why}` };
}
