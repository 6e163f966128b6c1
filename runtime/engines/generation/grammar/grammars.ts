import { RunError } from '../../../core/errors.js';
import { grammarBytes } from '../../../core/grammar-memory.js';
import type { MemoryLimits } from '../../../core/load-request.js';
import { inMegabytes } from '../../../memory.js';
import { availableMemory } from '../../sessions/available-memory.js';
import type { TextTokenizer } from '../../tokenizers/tokenizer.js';
import type { GenerationSettings } from '../settings/settings.js';
import type { AskedGrammar } from './asked-grammar.js';
import { GrammarInstance, GrammarRefused, type GrammarState } from './llguidance/instance.js';
import { openAside } from './llguidance/open-aside.js';
import { refusalText } from './refusal-text.js';
import { createRowGrammar, type RowGrammar } from './row-grammar.js';
import { createTokenTable } from './token-table.js';

/** A grammar while a request follows it. */
export interface GenerationGrammar {
  /** A row at the start of the grammar. */
  startRow(): RowGrammar;
  /** Gives back what the rows hold. */
  release(): void;
}

/** Grammars over the tokens of one model. */
export interface Grammars {
  /**
   * @throws RunError 400 for a grammar that can't be followed, 422 for a model that can't follow one
   */
  start(asked: AskedGrammar, settings: GenerationSettings): Promise<GenerationGrammar>;
}

/** Compiled grammars that are kept for the next request. */
const MOST_KEPT = 32;

interface Opened {
  instance: GrammarInstance;
  /** At their starts, the one that was used last at the end. */
  compiled: Map<string, GrammarState>;
}

/** Opens llguidance with the first request that needs it, and anew after it has failed. */
export function createGrammars(tokenizer: TextTokenizer, memory?: MemoryLimits): Grammars {
  let opening: Promise<Opened> | undefined;
  const open = async (param: string, ends: ReadonlySet<number>): Promise<Opened> => {
    const left = requireRoom(param, tokenizer.idLimit, memory);
    const table = await createTokenTable(tokenizer, ends);
    const fitsTwice = grammarBytes('chat', table.vocabulary) * 2 <= left;
    const instance = await (fitsTwice ? openAside(table) : GrammarInstance.open(table));
    return { instance, compiled: new Map() };
  };
  const guard = <T>(param: string, opened: Promise<Opened>, work: () => T): T => {
    try {
      return work();
    } catch (error) {
      // What has trapped must not be used again.
      if (error instanceof WebAssembly.RuntimeError && opening === opened) opening = undefined;
      throw grammarError(param, error);
    }
  };
  return {
    async start(asked, settings) {
      const refusal = modelRefusal(tokenizer, settings);
      if (refusal !== undefined) throw new RunError('unprocessable', `params.${asked.param}: ${refusal}`);
      const opened = (opening ??= open(asked.param, settings.eosTokenIds));
      const found = await opened.catch((error: unknown) => {
        opening = undefined;
        throw error;
      });
      const { param } = asked;
      const start = guard(param, opened, () => compiledGrammar(found, asked));
      const own = guard(param, opened, () => start.fork());
      const states = [own];
      const forcesFirst = settings.forcedBosTokenId !== undefined;
      const traits = { greedy: !settings.doSample, ends: settings.eosTokenIds, forcesFirst };
      return {
        startRow() {
          const state = guard(param, opened, () => own.fork());
          states.push(state);
          const row = createRowGrammar(state, traits);
          return {
            choose: (scores, sample) => guard(param, opened, () => row.choose(scores, sample)),
            get complete() {
              return row.complete;
            },
          };
        },
        release() {
          // An instance that has trapped is dropped as a whole.
          if (opening === opened) for (const state of states.splice(0)) state.release();
        },
      };
    },
  };
}

/**
 * @returns bytes that are left
 * @throws RunError 422 where memory would run out, which ends the process
 */
function requireRoom(param: string, vocabulary: number, memory: MemoryLimits | undefined): number {
  const [needed, left] = [grammarBytes('chat', vocabulary), availableMemory(memory)];
  if (needed <= left) return left;
  throw new RunError(
    'unprocessable',
    `params.${param}: formats take ${inMegabytes(needed)} of memory, and ${inMegabytes(left)} of ${inMegabytes(memory!.limit)} are left: ` +
      'give the server more memory',
  );
}

/** Why a model can't follow any grammar. */
export function modelRefusal(
  tokenizer: TextTokenizer,
  { eosTokenIds }: GenerationSettings,
): string | undefined {
  if (eosTokenIds.size === 0) return 'this model names no token that ends a text';
  return tokenizer.marksSubwords ? 'the tokens of this model do not tell blanks' : undefined;
}

/** A grammar at its start, which stays in the list. */
function compiledGrammar({ instance, compiled }: Opened, asked: AskedGrammar): GrammarState {
  const { kind, source } = asked;
  const key = `${kind} ${source}`;
  const state = compiled.get(key) ?? compile(instance, asked);
  compiled.delete(key);
  compiled.set(key, state);
  const [oldest] = compiled.keys();
  if (compiled.size > MOST_KEPT) {
    compiled.get(oldest!)?.release();
    compiled.delete(oldest!);
  }
  return state;
}

/** @throws RunError 400 that names the part that is refused, where it is one of them */
function compile(instance: GrammarInstance, { kind, source, parts = [] }: AskedGrammar): GrammarState {
  try {
    return instance.compile(kind, source);
  } catch (error) {
    if (!(error instanceof GrammarRefused)) throw error;
    for (const { place, schema } of parts) checkPart(instance, place, schema);
    throw error;
  }
}

function checkPart(instance: GrammarInstance, place: string, schema: Record<string, unknown>): void {
  try {
    instance.compile('json_schema', JSON.stringify(schema)).release();
  } catch (error) {
    if (!(error instanceof GrammarRefused)) throw error;
    throw new RunError('invalid_input', `${place}: ${refusalText(error.message)}`, { cause: error });
  }
}

function grammarError(param: string, error: unknown): unknown {
  if (error instanceof GrammarRefused)
    return new RunError('invalid_input', `params.${param}: ${refusalText(error.message)}`, { cause: error });
  if (error instanceof WebAssembly.RuntimeError)
    return new RunError('unprocessable', `params.${param}: is too much work; make it simpler`, {
      cause: error,
    });
  return error;
}
