import type { Head } from '../../../runtime/core/handles/index.js';
import type { ExportRecipe } from '../types.js';
import type { Json } from './config.js';
import { chatRecipes } from './chats.js';
import { decoderRecipe } from './decoders.js';
import { encoderDecoderRecipes } from './encoder-decoders.js';
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

/** How the graphs of a model are exported for a head, by their roles. Pure. @returns a text that says why it can't be, where it can't */
export function recipesFor({
  head,
  config,
  processing,
}: RecipeRequest): Readonly<Record<string, ExportRecipe>> | string {
  const { model_type: modelType } = config;
  if (typeof modelType !== 'string') return 'config.json says no model_type';
  const quantized = config['quantization_config'];
  if (typeof quantized === 'object' && quantized !== null) return 'its weights are packed by another tool';
  const recipes = findRecipes({ head, config, processing });
  if (recipes === undefined) return `there is no recipe for ${head}`;
  if (typeof recipes === 'string') return recipes;
  return Object.fromEntries(
    Object.entries(recipes).map(([role, recipe]) => [role, { modelType, ...recipe }]),
  );
}

/** The recipes for a head, of any model, by role; undefined where no kind of network has one. */
export function findRecipes(request: RecipeRequest) {
  const { head, config, processing } = request;
  const several = encoderDecoderRecipes(head, config) ?? chatRecipes(head, config, processing);
  if (several !== undefined) return several;
  const recipe = singleRecipe(request);
  return typeof recipe === 'object' ? { model: recipe } : recipe;
}

/** Of networks that are one graph. */
const singleRecipe = ({ head, config, processing }: RecipeRequest) =>
  textRecipe(head, config) ??
  audioRecipe(head, config) ??
  decoderRecipe(head, config) ??
  pairRecipe(head, config, processing) ??
  imageRecipe(head, config, processing);
