import { functionOf, type ToolFunction } from '../../../../../runtime/core/tools.js';
import { answerText } from '../../../../../runtime/engines/generation/grammar/answer-text.js';
import { checkSchema } from '../../../../../runtime/engines/generation/grammar/check-schema.js';
import { askedGrammar } from '../../../../../runtime/engines/generation/grammar/asked-grammar.js';
import {
  GrammarInstance,
  type GrammarState,
  SPECIAL,
  tokenTable,
} from '../../../../../runtime/engines/generation/grammar/llguidance/instance.js';
import { prepareChat } from '../../../../../runtime/engines/tool-calls/chat-tools.js';
import {
  type ChatGrammar,
  type ChatGrammarInput,
  chatGrammar,
} from '../../../../../runtime/engines/tool-calls/grammar/chat-grammar.js';
import type { ChatOptions } from '../../../../../runtime/core/tools.js';
import type { GenerateOptions } from '../../../../../runtime/core/handles/index.js';
import { FAMILIES } from '../families.js';
import { type Read, readAnswer } from '../support.js';
import { FAMILY_OF, loadTemplate } from '../templates.js';

const user = { role: 'user', content: 'What is the weather?' };

/** Likelier for a random model: what ends texts, lists and objects. */
const ENDING = new Set(Array.from('"]})>{[,', (one) => one.charCodeAt(0)));

/** What begins calls. */
const OPENS = 0x7b;

/** A model of random scores whose tokens are bytes, marks of its template and special tokens. */
export interface RandomModel {
  facts: ReturnType<typeof loadTemplate>['facts'];
  /** What it wrote under a grammar: texts of special tokens are pieces of their own. `ended` is false for one that was cut. */
  write(grammar: string, seed: number, length: number): { pieces: string[]; ended: boolean };
  grammar(options: ChatOptions & GenerateOptions, given?: Partial<ChatGrammarInput>): ChatGrammar | undefined;
  read(written: { pieces: string[]; ended: boolean }, options: ReadGiven): Read;
}

export interface ReadGiven {
  tools: readonly Record<string, unknown>[];
  before?: string;
  thinking?: boolean;
  hasTextFormat?: boolean;
}

export async function randomModel(file: string): Promise<RandomModel> {
  const { facts } = loadTemplate(file);
  const { special } = FAMILIES[FAMILY_OF[file]!]!;
  const { reasoning } = facts;
  const isSpecial = (text: string) => special.includes(text);
  const marks = [...new Set(JSON.stringify(facts.format).match(/<[^<>"\\]+>|\[[A-Z_]+\]/g))];
  const starts = 'starts' in facts.format ? facts.format.starts : [];
  const tags = reasoning ? [reasoning.start, reasoning.end] : [];
  const texts = [...new Set([...marks, ...starts, ...tags])].filter((text) => !isSpecial(text));
  const encode = (text: string) => new TextEncoder().encode(text);
  const bytes = Array.from({ length: 256 }, (_, i) => Uint8Array.of(i));
  const first = 256 + texts.length;
  const end = first + special.length;
  const tokens = [
    ...bytes,
    ...texts.map(encode),
    ...special.map((_, i) => Uint8Array.of(SPECIAL, ...encode(`<${first + i}>`))),
    Uint8Array.of(SPECIAL, ...encode(`<${end}>`)),
  ];
  const ids = new Map(special.map((text, i) => [text, first + i]));
  const instance = await GrammarInstance.open(tokenTable(tokens, [end]));
  const compiled = new Map<string, GrammarState>();
  return {
    facts,
    grammar(options, given = {}) {
      const prepared = prepareChat([user], {}, options, facts);
      const asked = askedGrammar(options);
      return chatGrammar({
        ...{ prepared, facts, options, thoughts: 'behind', begun: 'nothing', checkSchema },
        tokens: { ids, ends: new Set([end]) },
        asked: asked && {
          ...{ param: asked.param, json: asked.kind === 'json_schema', text: answerText(asked) },
        },
        ...given,
      });
    },
    write(grammar, seed, length) {
      const start = compiled.get(grammar) ?? instance.compile('lark', grammar);
      compiled.set(grammar, start);
      const state = start.fork();
      const random = randomOf(seed);
      const chosen: number[] = [];
      try {
        while (chosen.length < length) {
          const scores = Float32Array.from(tokens, (_, id) => random() + boost(id));
          state.restrict(scores);
          const id = scores.indexOf(Math.max(...scores));
          if (id === end) return { pieces: piecesOf(chosen), ended: true };
          state.consume(id);
          chosen.push(id);
          if (state.complete) return { pieces: piecesOf(chosen), ended: true };
        }
        return { pieces: piecesOf(chosen), ended: false };
      } finally {
        state.release();
      }
    },
    read({ pieces, ended }, { tools, before = '', thinking = false, hasTextFormat = false }) {
      const functions = tools.map((tool) => functionOf(tool)!);
      const found = readAnswer(before === '' ? pieces : [...cut(before, special), ...pieces], {
        ...{ format: facts.format, reasoning, special, thinking, hasTextFormat, cut: !ended },
        tools: new Map<string, ToolFunction>(functions.map((one) => [one.name, one])),
      });
      return found;
    },
  };

  function boost(id: number): number {
    if (id === OPENS) return 0.8;
    return id >= 256 || ENDING.has(id) ? 0.5 : 0;
  }

  function piecesOf(chosen: readonly number[]): string[] {
    const pieces: string[] = [];
    let plain: number[] = [];
    const flush = () => {
      if (plain.length > 0) pieces.push(Buffer.from(plain).toString());
      plain = [];
    };
    for (const id of chosen) {
      if (id < first) plain.push(...tokens[id]!);
      else {
        flush();
        pieces.push(special[id - first]!);
      }
    }
    flush();
    return pieces;
  }
}

function randomOf(seed: number): () => number {
  let state = seed * 7919 + 1;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

function cut(text: string, special: readonly string[]): string[] {
  const pieces: string[] = [];
  let plain = '';
  for (let at = 0; at < text.length;) {
    const token = special.find((one) => text.startsWith(one, at));
    if (token === undefined) {
      plain += text[at++];
      continue;
    }
    if (plain !== '') pieces.push(plain);
    plain = '';
    pieces.push(token);
    at += token.length;
  }
  return plain === '' ? pieces : [...pieces, plain];
}
