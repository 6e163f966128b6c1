import type { Delta } from '../../../core/delta.js';
import type { GeneratedText, GenerateOptions } from '../../../core/handles/index.js';
import type { WriteAnswer } from '../generate.js';
import type { AskedGrammar } from '../grammar/asked-grammar.js';

/** What the template gets, and how to go on from what it writes. */
export interface AskedChat<Message> {
  messages: Message[];
  variables: Record<string, unknown>;
  options: GenerateOptions;
  /** @returns what the answer is made to begin with, behind this prompt */
  begin(prompt: string): string;
  /** How the answer is told; undefined: as plain text. Known once `begin` was called. */
  writes(): WriteAnswer | undefined;
  /** What the answer has to follow, if not what the options say. Known once `begin` was called. @param ends tokens that end it */
  grammar?: ((ends: ReadonlySet<number>) => AskedGrammar | undefined) | undefined;
  /** The answers, checked. @throws RunError 422 for one that calls nothing though it had to */
  checked(pieces: Pieces): Pieces;
}

export type Pieces = AsyncGenerator<string | Delta, GeneratedText[]>;
