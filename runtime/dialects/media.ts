import { isEncodedJson } from '../core/encoded-json.js';
import { isMediaOutput, type MediaOutput } from '../core/media-output.js';

/** A task's output as a value: what the engine has encoded already is parsed. */
export function valueOf(output: unknown): unknown {
  if (!isEncodedJson(output)) return output;
  return JSON.parse(Buffer.concat(output.encodedJson).toString('utf8')) as unknown;
}

/** A made medium, from bytes (a container's own) or from a data URL (through POST /run); undefined for other outputs. */
export function mediaOf(output: unknown): MediaOutput | undefined {
  if (isMediaOutput(output)) return output;
  if (typeof output !== 'string') return undefined;
  const found = /^data:([\w/.+-]+);base64,/.exec(output);
  return found
    ? { mediaType: found[1]!, media: Buffer.from(output.slice(found[0].length), 'base64') }
    : undefined;
}
