import type { LoadRequest } from '../../../../core/load-request.js';
import { networkSizes } from '../../../../core/network.js';
import { planEncoderMemory, withoutReserved } from './encoder-memory.js';
import { openEncoderRuns } from './encoder-runs.js';
import { openClipEncoder } from './clip-encoder.js';
import type { MediaFamilies, MediumKind } from './families.js';
import type { ImageFamily } from './family.js';
import { createFeatureCache } from './feature-cache.js';
import type { MediumEncoder } from './medium-encoder.js';
import { createImageEncoder, type EncoderParts } from './image-encoder.js';
import { openAudioEncoder } from './audio-encoder.js';

export type MediaEncoders = { [K in MediumKind]?: MediumEncoder };

/** What a model reads besides words. */
export interface OpenedEncoders {
  encoders: MediaEncoders;
  /** What is left for the decoder. */
  rest: LoadRequest;
}

/** Opens an encoder for each kind of media: images and videos share one graph, audio clips have their own. */
export async function openMediaEncoders(
  request: LoadRequest,
  { image, audio, video }: MediaFamilies,
): Promise<OpenedEncoders> {
  const kept = createFeatureCache();
  const sizes = networkSizes(request.spec);
  let rest = request;
  async function partsOf(role: string, size: typeof sizes.vision, most: number): Promise<EncoderParts> {
    const run = await openEncoderRuns(request, role);
    const memory = planEncoderMemory(rest, size, most);
    rest = withoutReserved(rest, memory);
    return { run, memory, kept };
  }
  const encoders: MediaEncoders = {};
  if (image ?? video) {
    const most = Math.max(image?.mostPatches ?? 0, video?.mostPatches ?? 0);
    const parts = await partsOf('vision_encoder', sizes.vision, most);
    if (image) encoders.image = createImageEncoder(request, image, parts);
    if (video) encoders.video = await openClipEncoder(request, video, parts);
  }
  if (audio) {
    const parts = await partsOf('audio_encoder', sizes.audio, audio.mostPatches);
    encoders.audio = await openAudioEncoder(request, audio, parts);
  }
  return { encoders, rest };
}

/** Opens the encoder of a model that reads images alone. */
export async function openImageEncoder(request: LoadRequest, family: ImageFamily): Promise<MediumEncoder> {
  const { encoders } = await openMediaEncoders(request, { image: family });
  return encoders.image!;
}
