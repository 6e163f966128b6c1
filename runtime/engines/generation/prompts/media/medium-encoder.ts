import type { FrameSampling } from '../../../../core/handles/index.js';
import type { MediumFamily, MediumLayout } from './family.js';
import type { EncodedMedium } from './media-prompt.js';

/** How a medium is to be read. */
export interface MediumWork {
  /** Of videos. */
  sampling: FrameSampling;
  /** How many images the conversation has. */
  images: number;
  /** The texts of the conversation, for encoders that read them, too. */
  question?: string;
  signal: AbortSignal;
}

/** One kind of media, from its file to features. */
export interface MediumEncoder {
  readonly family: MediumFamily;
  /**
   * What a medium will be, before its encoder runs.
   * @throws RunError 413 too large or too long, 415 another kind of file, 422 broken; the signal's reason
   */
  measure(bytes: Uint8Array, work: MediumWork): Promise<MediumLayout>;
  /** @throws as `measure` */
  encode(bytes: Uint8Array, work: MediumWork): Promise<EncodedMedium>;
}
