/** Sizes of the axes that a sample gives values to: `rows`, `length`, … */
export type Sizes = Readonly<Record<string, number>>;

/** A tensor that a network is fed with; an axis is a number or the name of a size. */
export type SampleInput = { axes: readonly (number | string)[]; optional?: boolean } & (
  | {
      kind: 'tokens';
      /** Ids from `low` up to `high`, which is none of them. */
      low: number;
      high: number;
      /** Ids with a meaning of their own, which are not drawn. */
      avoid: readonly number[];
      /** Ids that a text of this family has: at a place, each row. */
      fixed: readonly (readonly [place: number, id: number])[];
      /** Of padding. */
      pad: number;
    }
  /** 1 for what is there, 0 for padding. */
  | { kind: 'mask' }
  /** 0 in the first half of a text, 1 in the second. */
  | { kind: 'segments' }
  | { kind: 'zeros' }
  /** Of each image: true in a part of it at the upper left. */
  | { kind: 'corner' }
  /** Floats around zero. */
  | { kind: 'noise' }
);

/** How one graph is exported; export.py reads it as it is. */
export interface ExportRecipe {
  /** `model_type` of config.json. */
  modelType: string;
  /** Class of transformers that loads the network. */
  class: string;
  /** Fields of the configuration that are set for the export. */
  config: Readonly<Record<string, string | number | boolean>>;
  /** Parts of names that the checkpoint may lack, since no output that is kept needs them. */
  mayMiss: readonly string[];
  inputs: Readonly<Record<string, SampleInput>>;
  /** Axes that keep no size of the sample. */
  free: readonly string[];
  /** Where rows are padded; right if absent. */
  padding?: 'left';
  /** A step of a decoder: tokens behind a cache, which transformers itself makes of the sample. */
  decoder?: true;
  /**
   * Which graph of an encoder-decoder: its encoder, the step that makes the caches, one that goes on from them; of a chat about
   * images: the table of tokens, what makes features of images, a step over both.
   */
  part?: 'encoder' | 'first' | 'next' | 'embed' | 'image' | 'decode';
  /** Inputs that are of images, and the token that stands for a feature: a step of a chat is compared with the whole network. */
  images?: readonly string[];
  token?: number;
  /** Argument that takes the edges of images, where those are the edges of their tensors. */
  edges?: string;
  /** Argument that takes how many tiles each image has, and the input that they are in. */
  tiles?: { counts: string; of: string };
  /** Sizes of an image there. */
  image?: Sizes;
  /** Names of the exporter's inputs -> those of the finished graph. */
  names?: Readonly<Record<string, string>>;
  traced: Sizes;
  /** What the finished graph is compared by. */
  probes: readonly Sizes[];
  /** Outputs to keep; those that this network does not have are left out. */
  outputs: readonly string[];
}

/** Rises with whatever changes the graph of a recipe, or what is done to it. */
export const RECIPE_VERSION = 1;

/** Exact versions of what an export is made by, by the names of their packages. */
export type ToolVersions = Readonly<Record<string, string>>;
