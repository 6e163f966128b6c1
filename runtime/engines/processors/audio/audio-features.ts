/** An audio clip as the model takes it. */
export interface AudioFeatures {
  /** Python's name of the input. */
  input: 'input_values' | 'input_features';
  values: Float32Array;
  /** The first axis is 1. */
  dims: readonly number[];
  /** Steps of the attention mask, and how many of them are no padding. */
  mask: { length: number; content: number };
}

export interface FeatureExtractor {
  /** Samples per second that the model was trained with. */
  readonly rate: number;
  /** Samples from one frame to the next, where steps of audio are counted by frames. */
  readonly hop?: number;
  /**
   * @param samples one channel, at least one sample
   * @throws RunError 422 an audio clip that Python's extractor fails on; the signal's reason
   */
  extract(samples: Float32Array, signal: AbortSignal): Promise<AudioFeatures>;
}
