/** Media that stand in the blocks of messages. */

export interface MediaSource {
  /** Of a block: which kind of medium it says it is. */
  type?: string | undefined;
  url?: string | undefined;
  base64?: string | undefined;
}

type Block = Record<string, unknown>;

/** A copy of a body's messages in which url and base64 of each block are replaced by what `replace` makes of them. */
export function mapMessageMedia(messages: unknown, replace: (source: MediaSource) => object): unknown {
  if (!Array.isArray(messages)) return messages;
  return messages.map((message: Block) =>
    Array.isArray(message['content'])
      ? { ...message, content: message['content'].map((block) => mapBlock(block, replace)) }
      : message,
  );
}

function mapBlock(block: unknown, replace: (source: MediaSource) => object): unknown {
  if (typeof block !== 'object' || block === null) return block;
  const { url, base64, ...rest } = block as Block & MediaSource;
  if (url === undefined && base64 === undefined) return block;
  const type = typeof rest['type'] === 'string' ? { type: rest['type'] } : {};
  return { ...rest, ...replace({ ...type, ...(url === undefined ? { base64 } : { url }) }) };
}
