import type { ChatMessage, MediaBlock, MediaMessage } from '../../../../core/handles/index.js';
import type { MediaFamilies, MediumKind } from './families.js';

export interface GivenMedium {
  kind: MediumKind;
  /** The file. */
  bytes: Uint8Array;
}

/** Media of a conversation in their order. */
export function mediaOf(messages: readonly MediaMessage[]): GivenMedium[] {
  return messages.flatMap(({ content }) =>
    Array.isArray(content)
      ? content.flatMap((block) => (block.type === 'text' ? [] : [{ kind: block.type, bytes: block.bytes }]))
      : [],
  );
}

/** What the texts of a conversation say, one after the other. */
export const textsOf = (messages: readonly MediaMessage[]): string =>
  messages
    .flatMap(({ content }) =>
      Array.isArray(content)
        ? content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
        : [content ?? ''],
    )
    .join('');

/**
 * Templates of such models loop over blocks; most of them take plain texts, too. One that knows nothing of audio clips gets their
 * placeholder as a text.
 */
export function asTemplateReads(
  messages: readonly MediaMessage[],
  source: string,
  { audio }: Pick<MediaFamilies, 'audio'>,
): ChatMessage[] {
  const takesTexts = /\bis\s+string\b/.test(source);
  const asText = audio && !/['"]audio['"]/.test(source) ? audio.placeholder : undefined;
  const blockOf = (block: MediaBlock) => {
    if (block.type === 'text') return block;
    if (block.type === 'audio' && asText !== undefined) return { type: 'text', text: asText };
    return { type: block.type };
  };
  return messages.map(({ content, ...rest }) => {
    if (typeof content === 'string')
      return {
        ...rest,
        content: takesTexts || asText !== undefined ? content : [{ type: 'text', text: content }],
      };
    return { ...rest, content: content?.map(blockOf) };
  });
}
