import { fileTypeFromBuffer } from 'file-type';
import { formatBySignature, formatOfType, type MediaFormat } from './formats.js';

/**
 * Media type by the bytes' own signature: what a client claims is not believed. What is known and not read is named, with what
 * to do instead. Undefined where nothing is known.
 */
export async function sniff(bytes: Uint8Array): Promise<string | undefined> {
  const found = (await fileTypeFromBuffer(bytes))?.mime;
  // Some signatures are more than the two bytes that `file-type` goes by.
  const format = (isVague(found) && formatBySignature(bytes)) || (found && formatOfType(found)) || undefined;
  if (format?.remedy !== undefined) return refusal(format);
  if (found !== undefined && !isVague(found)) return found;
  return format?.types[0] ?? markup(bytes) ?? found;
}

const isVague = (type: string | undefined): boolean =>
  type === undefined || type === 'application/xml' || type === 'image/x-icon';

const refusal = ({ name, remedy }: MediaFormat): string => `${name} (not supported: ${remedy})`;

/** SVG is text; it is named so that the refusal is clear. */
function markup(bytes: Uint8Array): string | undefined {
  const start = new TextDecoder().decode(bytes.subarray(0, 1024));
  if (/<svg[\s>]/i.test(start)) return 'SVG (not supported: send it as PNG, JPEG or WebP)';
  return /^\s*<(!doctype|html)/i.test(start) ? 'an HTML page' : undefined;
}
