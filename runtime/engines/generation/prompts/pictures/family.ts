import type { Picture } from '../../../../media/picture.js';
import type { Edges } from '../../../processors/image/sizes.js';
import type { Json } from '../../../repository/model-folder.js';
import type { Tensors } from '../../../sessions/tensors.js';
import type { TextTokenizer } from '../../../tokenizers/tokenizer.js';
import type { PromptPositions } from '../../decoding/prompt.js';

/** What becomes of a picture, by its size alone. */
export interface PictureLayout {
  /** Features that the vision encoder makes of it. */
  count: number;
  /** Patches that attend to each other in one run of the vision encoder. */
  patches: number;
  /** Features over time, height and width, for families whose positions follow them. */
  grid?: readonly [number, number, number];
  /** Rows and columns of parts that a large picture is cut into; absent for a whole one. */
  parts?: { rows: number; columns: number };
}

/** Inputs of one run of the vision encoder by their usual names, made when its turn comes: their memory is handed over. */
export type PictureRun = () => Tensors;

/** Where the features of a picture stand in a prompt. */
export interface PlacedPicture extends Pick<PictureLayout, 'grid'> {
  start: number;
}

/** How a family of models puts pictures among words. */
export interface PictureFamily {
  /** What a chat template writes for a picture. */
  readonly placeholder: string;
  /** The token at whose places features stand. */
  readonly tokenId: number;
  /** Most patches of a picture. */
  readonly mostPatches: number;
  /** @throws RunError 422 a picture that Python's processor fails on */
  layout(size: Edges): PictureLayout;
  /** Runs of the vision encoder, whose features follow one another. @throws RunError as `layout` */
  prepare(picture: Picture): PictureRun[];
  /** The text that takes the placeholder's place, with as many tokens of pictures as there are features. */
  expand(layout: PictureLayout): string;
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
