export interface ServerEvent {
  /** Empty for events without a name. */
  name: string;
  data: Record<string, unknown>;
}

/** Server-sent events of an answer, whose data are JSON objects. @throws when the connection breaks */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop()!;
    for (const block of blocks) {
      const event = eventOf(block);
      if (event) yield event;
    }
  }
}

/** Undefined for a comment. */
function eventOf(block: string): ServerEvent | undefined {
  const lines = block.split('\n');
  const of = (field: string) =>
    lines.filter((line) => line.startsWith(`${field}: `)).map((line) => line.slice(field.length + 2));
  const data = of('data').join('\n');
  if (data === '') return undefined;
  return { name: of('event')[0] ?? '', data: JSON.parse(data) as Record<string, unknown> };
}
