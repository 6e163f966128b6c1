/** A part of a message, as the chat tasks take it. */
export type Part = { type: 'text'; text: string } | { type: string; base64: string };

export interface Message {
  role: 'system' | 'user' | 'assistant';
  content: string | Part[];
}

export const textOf = ({ content }: Message): string =>
  typeof content === 'string' ? content : content.map((part) => ('text' in part ? part.text : '')).join('');

/** Media of a message, as data URLs. */
export const mediaOf = ({ content }: Message): { kind: string; source: string }[] =>
  typeof content === 'string'
    ? []
    : content.flatMap((part) => ('base64' in part ? [{ kind: part.type, source: part.base64 }] : []));

/** A message of the user with the media that go with it. */
export function userMessage(text: string, media: readonly { kind: string; source: string }[]): Message {
  if (media.length === 0) return { role: 'user', content: text };
  const parts = media.map(({ kind, source }) => ({ type: kind, base64: source }));
  return { role: 'user', content: [...parts, { type: 'text', text }] };
}

/** What a message list without media is in an address: files are too long for one. */
export const isShareable = (messages: readonly Message[]): boolean =>
  messages.every((message) => mediaOf(message).length === 0);
