import type { Head } from '../../../runtime/core/handles/index.js';
import type { ExportRecipe } from '../types.js';
import type { Json } from './config.js';
import { decoderRecipe } from './decoders.js';
import { pairRecipe } from './pairs.js';
import { imageRecipe } from './images.js';
import { audioRecipe } from './audio.js';
import { textRecipe } from './text.js';

export interface RecipeRequest {
  head: Head;
  /** config.json */
  config: Json;
  /** preprocessor_config.json */
  processing: Json;
}

/** How the network of a model is exported for a head. Pure. @returns a text that says why it can't be, where it can't */
export function recipeFor({ head, config, processing }: RecipeRequest): ExportRecipe | string {
  const { model_type: modelType } = config;
  if (typeof modelType !== 'string') return 'config.json says no model_type';
  const quantized = config['quantization_config'];
  if (typeof quantized === 'object' && quantized !== null) return 'its weights are packed by another tool';
  const recipe = findRecipe({ head, config, processing });
  if (recipe === undefined) return `there is no recipe for ${head}`;
  return typeof recipe === 'string' ? recipe : { modelType, ...recipe };
}

/** The recipe for a head, of any model; undefined where no kind of network has one. */
export const findRecipe = ({ head, config, processing }: RecipeRequest) =>
  textRecipe(head, config) ??
  audioRecipe(head, config) ??
  decoderRecipe(head, config) ??
  pairRecipe(head, config, processing) ??
  imageRecipe(head, config, processing);
