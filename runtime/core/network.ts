/** Sizes of a network; 0 for what its files don't tell. */
export interface NetworkSizes {
  /** Vocabulary entries. */
  vocabulary: number;
  /** Width of the hidden states. */
  hidden: number;
  /** Width of the feed-forward layers. */
  intermediate: number;
  layers: number;
  heads: number;
  /** Longest input in tokens. */
  positions: number;
  /** Width of a layer's keys over all heads; the same for values. */
  keys: number;
  /** Layers that keep keys and values, where others keep a state of fixed size; all of them if absent. */
  keyLayers?: number | undefined;
  /** Experts of a layer that is a mixture; absent without. */
  experts?: number | undefined;
  /** Tokens of an image: one per patch, and one more. */
  patches: number;
  /** Of models that read more than text: the encoders of images and of audio. */
  vision?: MediaEncoderSizes | undefined;
  audio?: MediaEncoderSizes | undefined;
}

/** Sizes of an encoder of media; `patches` is 0 where images keep their size, and the steps of a window of audio. */
export interface MediaEncoderSizes extends Pick<
  NetworkSizes,
  'hidden' | 'intermediate' | 'heads' | 'patches'
> {
  /** Attention has a mask or a bias, or may have: with one, kernels hold all scores at a time. */
  masked: boolean;
}

/** In pixels. */
export interface ImageSize {
  height: number;
  width: number;
}

/**
 * What a part of a network for images holds while it computes, in numbers of 32 bits for each of its cells. Parts run one
 * after the other.
 */
export interface ImagePart {
  /** Pixels between cells on either axis; cells of all strides are counted together. */
  strides: number[];
  /** Frames whose cells are computed together; 1 if absent. */
  frames?: number | undefined;
  /** Cells beside those of the image: tokens of classes and queries. */
  more?: number | undefined;
  /** Numbers at the part's largest layer. */
  states: number;
  /**
   * What exports hold in addition, for a cell and for a pair of cells: scores of a layer's attention and their softmax, which
   * our graphs leave to a kernel that has a block of them at a time, and stages that are joined before they are fused.
   */
  exported?: number | undefined;
  exportedPairs?: number | undefined;
}

/** How audio of any length becomes steps, stage by stage, and what reads the steps. */
export interface AudioNetwork {
  /** Samples or steps that become a step. */
  strides: number[];
  /** Numbers of a step; the last one counts for all later stages. */
  widths: number[];
  /** Tensors of a stage that are in memory together. */
  tensors: number;
  /** Of the transformer over the steps; `heads` counts all tables of scores of a layer. */
  sizes: Pick<NetworkSizes, 'hidden' | 'intermediate' | 'heads'>;
}

/** What memory of a model's runs is computed from. The builder reads it of the model's files (builder/plan/network/). */
export interface NetworkFacts {
  sizes: NetworkSizes;
  /** Of networks inside of the model that run by themselves, by the name of their configuration. */
  inner?: Record<string, NetworkSizes> | undefined;
  /** For models that read images or video. */
  image?: ImagePart[] | undefined;
  /** For models that read audio of any length. */
  audio?: AudioNetwork | undefined;
}

const UNKNOWN_SIZES: NetworkSizes = {
  ...{ vocabulary: 0, hidden: 0, intermediate: 0, layers: 0, heads: 0, positions: 0, keys: 0, patches: 0 },
};

/** Sizes of a network inside of the model, or of the model where no configuration has that name; zeros where nothing is known. */
export function networkSizes({ network }: { network?: NetworkFacts | undefined }, inner = ''): NetworkSizes {
  return network?.inner?.[inner] ?? network?.sizes ?? UNKNOWN_SIZES;
}
