import type { Delta, ToolCall } from '../../core/delta.js';

type CallPiece = Extract<Delta, { call: unknown }>['call'];

export interface CollectedCalls {
  add(piece: CallPiece): void;
  /** The calls so far, in their order. */
  all(): ToolCall[];
}

/** Puts calls together that come in pieces, for dialects that send them whole. */
export function collectCalls(): CollectedCalls {
  const calls: { id: string; name: string; text: string }[] = [];
  return {
    add(piece) {
      if ('name' in piece) calls[piece.index] = { id: piece.id, name: piece.name, text: '' };
      else calls[piece.index]!.text += piece.arguments;
    },
    all: () =>
      calls.map(({ id, name, text }) => ({
        ...{ id, type: 'function' },
        function: { name, arguments: text },
      })),
  };
}
