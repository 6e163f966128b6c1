import { fileTypeFromBuffer } from 'file-type';

/** Picture formats that we know by their signature but can't read, so that the answer can name them. */
const UNREADABLE = new Set(['image/heic', 'image/heif', 'image/vnd.adobe.photoshop', 'image/jxl']);

/** Media type by the bytes' own signature: what a client claims is not believed. Undefined where nothing is known. */
export async function sniff(bytes: Uint8Array): Promise<string | undefined> {
  const found = (await fileTypeFromBuffer(bytes))?.mime;
  if (found !== undefined && UNREADABLE.has(found)) return `${found.slice('image/'.length)} (not supported)`;
  if (found === 'application/xml' || found === undefined) return signed(bytes) ?? markup(bytes) ?? found;
  return found;
}

/** Sounds that ffmpeg reads and `file-type` does not know, by the four letters that they begin with. */
const SIGNATURES: Readonly<Record<string, string>> = { '.snd': 'audio/basic', caff: 'audio/x-caf' };

function signed(bytes: Uint8Array): string | undefined {
  const letters = String.fromCharCode(...bytes.subarray(0, 4));
  return Object.hasOwn(SIGNATURES, letters) ? SIGNATURES[letters] : undefined;
}

/** SVG is text; it is named so that the refusal is clear. */
function markup(bytes: Uint8Array): string | undefined {
  const start = new TextDecoder().decode(bytes.subarray(0, 1024));
  if (/<svg[\s>]/i.test(start)) return 'SVG (not supported)';
  return /^\s*<(!doctype|html)/i.test(start) ? 'an HTML page' : undefined;
}
