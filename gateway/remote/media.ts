import { fileTypeFromBuffer } from 'file-type';
import { RunError } from '../../runtime/core/errors.js';

/** An image of a message: at an address that the provider fetches, or in Base64 with the type of its content. */
export type Image = { url: string } | { mediaType: string; base64: string };

const DATA_URL = /^data:[^,]{0,200};base64,/i;

/** Bytes that tell a type. */
const HEAD_CHARACTERS = 8192;

/**
 * What a block of a message shows. Types in data URLs are not believed.
 * @param path of the block. @throws RunError 400 or 415
 */
export async function imageOf(
  { url, base64 }: { url?: string; base64?: string },
  path: string,
): Promise<Image> {
  if (url !== undefined) {
    if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return { url };
    throw new RunError('invalid_input', `${path}.url: must be an http(s) address`);
  }
  const content = base64!.replace(DATA_URL, '');
  const found = await fileTypeFromBuffer(Buffer.from(content.slice(0, HEAD_CHARACTERS), 'base64'));
  if (found?.mime.startsWith('image/')) return { mediaType: found.mime, base64: content };
  throw new RunError('unsupported_media', `${path}: is not an image that can be read`);
}
