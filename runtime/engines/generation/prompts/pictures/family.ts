import type { Picture } from '../../../../media/picture.js';
import type { Json } from '../../../repository/model-folder.js';
import type { Tensors } from '../../../sessions/tensors.js';
import type { TextTokenizer } from '../../../tokenizers/tokenizer.js';
import type { PromptPositions } from '../../decoding/prompt.js';

/** A picture as the vision encoder takes it. */
export interface PreparedPicture {
  /** Inputs by their usual names. */
  feeds: Tensors;
  /** Features over time, height and width, for families whose positions follow them. */
  grid?: readonly [number, number, number];
  /** Rows and columns of parts that a large picture was cut into; 0 of a whole one. */
  parts?: { rows: number; columns: number };
}

/** Where the features of a picture stand in a prompt. */
export interface PlacedPicture extends Pick<PreparedPicture, 'grid'> {
  start: number;
}

/** How a family of models puts pictures among words. */
export interface PictureFamily {
  /** What a chat template writes for a picture. */
  readonly placeholder: string;
  /** The token at whose places features stand. */
  readonly tokenId: number;
  /** @throws RunError 422 a picture that Python's processor fails on */
  prepare(picture: Picture): PreparedPicture;
  /** The text that takes the placeholder's place, with as many tokens of pictures as there are features. */
  expand(count: number, picture: Omit<PreparedPicture, 'feeds'>): string;
  /** Absent: tokens stand where they are. */
  positions?(length: number, pictures: readonly PlacedPicture[]): PromptPositions;
}

/** What the repository says of its pictures. */
export interface FamilyFiles {
  /** config.json */
  config: Json;
  /** preprocessor_config.json */
  processing: Json;
  /** processor_config.json, {} where there is none. */
  processor: Json;
  tokenizer: TextTokenizer;
}

export type CreateFamily = (files: FamilyFiles) => PictureFamily;
