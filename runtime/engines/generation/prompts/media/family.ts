import type { FrameSampling } from '../../../../core/handles/index.js';
import type { Image } from '../../../../media/decoded-image.js';
import type { VideoFacts } from '../../../../media/video.js';
import type { Edges } from '../../../processors/image/sizes.js';
import type { Json } from '../../../repository/model-folder.js';
import type { TensorLike, Tensors } from '../../../sessions/tensors.js';
import type { TextTokenizer } from '../../../tokenizers/tokenizer.js';
import type { PromptPositions, SeenImages } from '../../decoding/prompt.js';

/** The layout of an image, an audio clip or a video in a prompt, known before its encoder has run. */
export interface MediumLayout {
  /** Features that the encoder makes of it. */
  count: number;
  /** Patches, or steps of an audio clip, that attend to each other in one run of the encoder. */
  patches: number;
  /**
   * Features over time, height and width, for families whose positions follow them. Where words stand between the steps, each step has
   * its own position.
   */
  grid?: readonly [number, number, number];
  /** Positions from one step of `grid` over time to the next; 1 by default. */
  timeStep?: number;
  /** Rows and columns of parts that a large image is cut into, and features of each where they differ; absent for a whole one. */
  parts?: { rows: number; columns: number; each?: number };
  /** Of a clip: its length, and where the frames that are read stand in it, in seconds. */
  clip?: { seconds: number; frames: readonly number[] };
}

/** Inputs of one run of an encoder by their usual names, made when its turn comes: their memory is handed over. */
export type EncoderRun = () => Tensors;

/** Where the features of a medium stand in a prompt. */
export interface PlacedMedium extends Pick<MediumLayout, 'grid' | 'timeStep'> {
  start: number;
}

/** How a family of models puts media of one kind among words. */
export interface MediumFamily {
  /** What a chat template writes for a medium. */
  readonly placeholder: string;
  /** The placeholder with what a template may write around it: all of it makes room for the text of `expand`. */
  readonly surrounded?: string;
  /** Placeholders of kinds that Python reads and this family does not: no text may hold one. */
  readonly foreign?: readonly string[];
  /** What stands once where `expand` and the text around it would have it twice. */
  readonly shared?: string;
  /** The token at whose positions features stand. */
  readonly tokenId: number;
  /** Others of that kind, for media that have learned vectors between their features. */
  readonly otherIds?: readonly number[];
  /** Most patches of one run. */
  readonly mostPatches: number;
  /**
   * The text that takes the placeholder's place, with as many tokens as there are features.
   * @param all media of this kind in the conversation
   */
  expand(layout: MediumLayout, all?: readonly MediumLayout[]): string;
  /** What sees what comes after it: all of a prompt, or the features of each medium; absent: nothing does. */
  readonly ahead?: 'prompt' | 'medium';
  /** Absent: tokens stand where they are. Otherwise the same for all kinds of a family. */
  positions?(length: number, media: readonly PlacedMedium[]): PromptPositions;
}

export interface ImageFamily extends MediumFamily {
  /** The template of models that hold no conversations, for repositories without one. It writes all special tokens. */
  readonly template?: string;
  /** True where images are read otherwise when there are several in a conversation. */
  readonly dependsOnCount?: boolean;
  /** True where Python generates from vectors alone, without the tokens of the prompt. */
  readonly fromVectors?: boolean;
  /** What each token of a prompt looks at of the images, for models whose images stand beside the text and not in it. */
  look?(tokens: readonly number[], media: readonly MediumLayout[]): SeenImages['seen'];
  /** What Python puts before a whole text, template included. @throws RunError 422 a text that it reads otherwise */
  begin?(text: string): string;
  /** True where the encoder reads the texts of the conversation, too. */
  readonly asks?: boolean;
  /**
   * @param several the image is one of several, for a family that reads those otherwise
   * @throws RunError 422 an image that Python's processor fails on
   */
  layout(size: Edges, several?: boolean): MediumLayout;
  /** Runs of the vision encoder, whose features follow one another. @throws RunError as `layout` */
  prepare(image: Image, several?: boolean, question?: string): EncoderRun[];
  /** The features of all runs [count, width] as the prompt has them; absent where they stay as they are. */
  arrange?(features: TensorLike, size: Edges, several?: boolean): TensorLike;
}

export interface AudioFamily extends MediumFamily {
  /** The processor's chat template, for repositories whose processor has none of its own. */
  readonly template?: string;
  /** Samples per second. */
  readonly rate: number;
  /** @throws RunError 422 an audio clip that Python's processor fails on */
  layout(samples: number): MediumLayout;
  /** Runs of the audio encoder, whose features follow one another. @throws RunError as `layout`; the signal's reason */
  prepare(samples: Float32Array, signal: AbortSignal): Promise<EncoderRun[]>;
}

export interface ClipFamily extends MediumFamily {
  /** The chat template for conversations with clips, where it is not the repository's. */
  readonly template?: string;
  /** True where a conversation holds images or clips, not both. */
  readonly alone: boolean;
  /**
   * Frames to read, in rising order.
   * @throws RunError 422 a clip that Python's processor fails on
   */
  choose(video: VideoFacts, sampling: FrameSampling): { numbers: number[]; layout: MediumLayout };
  /** Runs of the vision encoder for the frames of one clip, which come one by one. @param layout what `choose` said of it */
  collect(layout: MediumLayout): FrameCollector;
  /** The features of all runs [count, width] as the prompt has them; absent where they stay as they are. */
  arrange?(features: TensorLike): TensorLike;
}

export interface FrameCollector {
  add(frame: Image): EncoderRun[];
  end(): EncoderRun[];
}

/** What the repository says of its media. */
export interface FamilyFiles {
  /** config.json */
  config: Json;
  /** preprocessor_config.json */
  processing: Json;
  /** processor_config.json, {} where there is none. */
  processor: Json;
  tokenizer: TextTokenizer;
  /** Of the encoder's texts (qformer_tokenizer), for families whose encoder reads them. */
  questions?: TextTokenizer | undefined;
}

export interface ClipFiles extends FamilyFiles {
  /** video_preprocessor_config.json; the same as `processing` where there is none. */
  video: Json;
}

export type CreateFamily = (files: FamilyFiles) => ImageFamily;
export type CreateAudioFamily = (files: FamilyFiles) => AudioFamily;
export type CreateClipFamily = (files: ClipFiles) => ClipFamily;
