import { RunError } from '../../../../core/errors.js';
import { cellOf } from '../../../../hub-config/image-edges.js';
import type { CellProcessor } from '../../../processors/image/whole-cells.js';
import type { Json } from '../../../repository/model-folder.js';
import type { TextTokenizer } from '../../../tokenizers/tokenizer.js';
import { namedToken, requireNamedToken } from './named-token.js';

/**
 * @param vision configuration of what makes tokens of cells
 * @param usual its stages where it names none
 * @throws RunError not_ready where its cells are not those of the processor
 */
export function requireCells({ cell }: CellProcessor, vision: Json, usual: number): void {
  const own = cellOf(vision, usual);
  if (own === cell) return;
  throw new RunError(
    'not_ready',
    `preprocessor_config.json: spatial_factor is ${cell}, and the model has cells of ${own} pixels`,
  );
}

/**
 * @param usual of a processor that takes one where the tokenizer names none
 * @throws RunError not_ready where the tokenizer's token of images is not that of config.json
 */
export function requireImageToken(tokenizer: TextTokenizer, placeholder: string, usual?: string): void {
  const named =
    usual === undefined ? requireNamedToken(tokenizer, 'image_token') : namedToken(tokenizer, 'image_token');
  if ((named ?? usual) === placeholder) return;
  throw new RunError('not_ready', 'tokenizer_config.json: image_token is not that of config.json');
}
