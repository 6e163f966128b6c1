/** An output that is an image, an audio clip or a video: the server sends it as a data URL, or as it is. */
export interface MediaOutput {
  /** `image/png`, `audio/wav`, `audio/mpeg`, `video/mp4`, `video/webm`. */
  readonly mediaType: string;
  readonly media: Uint8Array;
}

export function isMediaOutput(output: unknown): output is MediaOutput {
  return typeof output === 'object' && output !== null && 'media' in output && 'mediaType' in output;
}

export function dataUrlOf({ mediaType, media }: MediaOutput): string {
  return `data:${mediaType};base64,${base64Of(media)}`;
}

/** Bytes in Base64, without copying them first. */
export function base64Of({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}
