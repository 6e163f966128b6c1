import { RunError } from '../../core/errors.js';
import type { LayerPlacement } from '../../core/placement.js';
import { type AnswerTokenizer, answerWith, type TokenizerParts } from '../chat-templates/answer-tokenizer.js';
import type { OpenedModel } from './open-model.js';

interface Kept {
  tokenizer: TokenizerParts;
  placement: LayerPlacement;
}

const opened = new Map<string, Kept>();

/** Keeps what is asked of an open model beside its answers. */
export function rememberModel(
  dir: string,
  { tokenizer, placement }: OpenedModel,
  parts: Omit<TokenizerParts, 'tokenizer'>,
): void {
  const { layers, gpuLayers, expertsOnCpu, text } = placement;
  opened.set(dir, {
    tokenizer: { tokenizer, ...parts },
    placement: { layers, gpu_layers: Math.min(layers, gpuLayers), experts_in_ram: expertsOnCpu, text },
  });
}

export const openedPlacement = (dir: string): LayerPlacement | undefined => opened.get(dir)?.placement;

/** Answers requests to the tokenizer of a model that is open. Its code is native, and quick enough for this thread. */
export const answerOpenedTokenizer = (dir: string): AnswerTokenizer =>
  answerWith(async () => {
    const kept = opened.get(dir);
    if (kept) return kept.tokenizer;
    throw new RunError('not_ready', 'the model is not loaded');
  });
