import { base64Of } from '../../core/media-output.js';
import { mediaOf, valueOf } from '../media.js';

/** The answer of a model as the content of a tool's result. */
export function resultOf(answer: unknown): object {
  const medium = mediaOf(answer);
  if (medium) return { content: [mediumContent(medium.mediaType, base64Of(medium.media))] };
  const output = valueOf(answer);
  return { content: [{ type: 'text', text: textOf(output) }], structuredContent: { output } };
}

function mediumContent(mimeType: string, data: string): object {
  const kind = mimeType.split('/')[0];
  if (kind === 'image' || kind === 'audio') return { type: kind, data, mimeType };
  return { type: 'resource', resource: { uri: 'slipway:answer', mimeType, blob: data } };
}

/** Texts as they are, a message's content, anything else as JSON. */
function textOf(output: unknown): string {
  if (typeof output === 'string') return output;
  const { content, tool_calls: calls } = (output ?? {}) as { content?: unknown; tool_calls?: unknown };
  return typeof content === 'string' && calls === undefined ? content : JSON.stringify(output);
}

/** What went wrong, for the model that has called the tool. */
export const failureOf = (message: string): object => ({
  content: [{ type: 'text', text: message }],
  isError: true,
});
