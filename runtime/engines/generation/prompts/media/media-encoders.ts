import type { LoadRequest } from '../../../../core/load-request.js';
import { networkSizes } from '../../../../core/network.js';
import { planEncoderMemory, withoutReserved } from './encoder-memory.js';
import { openEncoderRuns } from './encoder-runs.js';
import { openClipEncoder } from './clip-encoder.js';
import type { MediaFamilies, MediumKind } from './families.js';
import type { PictureFamily } from './family.js';
import { createFeatureCache } from './feature-cache.js';
import type { MediumEncoder } from './medium-encoder.js';
import { createPictureEncoder, type EncoderParts } from './picture-encoder.js';
import { openSoundEncoder } from './sound-encoder.js';

export type MediaEncoders = { [K in MediumKind]?: MediumEncoder };

/** What a model reads besides words. */
export interface OpenedEncoders {
  encoders: MediaEncoders;
  /** What is left for the decoder. */
  rest: LoadRequest;
}

/** Opens an encoder for each kind of media: pictures and videos share one graph, sounds have their own. */
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
    if (image) encoders.image = createPictureEncoder(request, image, parts);
    if (video) encoders.video = await openClipEncoder(request, video, parts);
  }
  if (audio) {
    const parts = await partsOf('audio_encoder', sizes.audio, audio.mostPatches);
    encoders.audio = await openSoundEncoder(request, audio, parts);
  }
  return { encoders, rest };
}

/** Opens the encoder of a model that reads pictures alone. */
export async function openPictureEncoder(
  request: LoadRequest,
  family: PictureFamily,
): Promise<MediumEncoder> {
  const { encoders } = await openMediaEncoders(request, { image: family });
  return encoders.image!;
}
