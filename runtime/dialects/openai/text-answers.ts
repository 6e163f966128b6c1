import type { Delta } from '../../core/delta.js';
import type { FinishReason, Usage } from '../../core/usage.js';
import type { FieldNames } from '../field-names.js';
import type { ServedModel } from '../host.js';

/** A parsed request of a text endpoint. */
export interface TextRequest<Answer extends { finish: FinishReason } = { finish: FinishReason }> {
  model: ServedModel;
  /** Bodies of POST /run, one for each prompt. */
  bodies: readonly Record<string, unknown>[];
  /** How the caller calls the fields of the bodies. */
  names: FieldNames;
  /** What to put before the answers of each prompt; may be empty. */
  echoes: readonly string[];
  stream: boolean;
  /** A stream gets the whole answer as pieces. */
  isWhole?: boolean;
  includeUsage: boolean;
  shape: TextShape<Answer>;
}

/** How an endpoint reads and formats answers. */
export interface TextShape<Answer> {
  /** Prefix of the answer's id. */
  prefix: string;
  object: string;
  chunk: string;
  /** Converts a task's output and usage to answers. @param echo what to put before each */
  read(output: unknown, usage: Usage | undefined, echo: string): Answer[];
  /** A whole answer. */
  choice(answer: Answer): object;
  /** What a whole answer tells beside its choices. */
  beside?(answers: readonly Answer[]): object;
  /** Sent before the first piece, if present. */
  begin?(): object;
  piece(piece: Delta): object;
  /** A whole answer as pieces, of requests that can't be streamed token by token. */
  chunks(answer: Answer): Iterable<object>;
  end(finish: FinishReason): object;
}
