import { RunError } from '../../../core/errors.js';
import type { GenerateOptions } from '../../../core/handles/index.js';
import type { ChatOptions } from '../../../core/tools.js';
import type { TextTokenizer } from '../../tokenizers/tokenizer.js';
import type { PreparedChat } from '../../tool-calls/chat-tools.js';
import type { ReasoningFormat } from '../../tool-calls/formats/format.js';
import { chatGrammar, type ChatGrammarInput } from '../../tool-calls/grammar/chat-grammar.js';
import type { Alphabet } from '../../tool-calls/parse/alphabet.js';
import { createAnswerParser } from '../../tool-calls/parse/answer-parser.js';
import type { TemplateFacts } from '../../tool-calls/probe/probe.js';
import { answerText } from '../grammar/answer-text.js';
import { askedGrammar } from '../grammar/asked-grammar.js';
import { checkSchema } from '../grammar/check-schema.js';
import { createParsingWriter } from '../output/parsing-writer.js';
import { newCallId } from './call-id.js';
import type { AskedChat, Pieces } from './asked-chat.js';

/** @throws RunError 422 for what would change the calls */
function checkOptions(options: GenerateOptions): void {
  const { skip_special_tokens, clean_up_tokenization_spaces } = options;
  const refuse = (name: string, why: string) =>
    new RunError('unprocessable', `params.${name}: ${why}; leave it out with parse_response`);
  if (skip_special_tokens === false)
    throw refuse('skip_special_tokens', 'special tokens are what calls are told by');
  if (clean_up_tokenization_spaces === true)
    throw refuse('clean_up_tokenization_spaces', 'true would change the arguments of calls');
}

interface ParsedInput {
  facts: TemplateFacts;
  alphabet: Alphabet;
  tokenizer: TextTokenizer;
  /** Ids of special tokens by their texts. */
  ids: ReadonlyMap<string, number>;
  options: GenerateOptions & ChatOptions;
}

/** @throws RunError 422 for options that would change the calls */
export function parsedChat<Message>(prepared: PreparedChat, input: ParsedInput): AskedChat<Message> {
  checkOptions(input.options);
  const { functions, format, mustCall, named } = prepared;
  const { facts, alphabet, tokenizer, ids, options } = input;
  const { reasoning } = facts;
  const asked = askedGrammar(options);
  let forced = '';
  let thoughts: ChatGrammarInput['thoughts'] = 'behind';
  const grammarOf = (begun: ChatGrammarInput['begun'], ends: ReadonlySet<number>) =>
    chatGrammar({
      ...{ prepared, facts, options, thoughts, begun, tokens: { ids, ends }, checkSchema },
      asked: asked && { param: asked.param, json: asked.kind === 'json_schema', text: answerText(asked) },
    });
  return {
    messages: prepared.messages as Message[],
    variables: prepared.variables,
    options: { ...options, clean_up_tokenization_spaces: false },
    begin(prompt) {
      thoughts = placeOf(reasoning, prompt);
      // A model thinks before it calls, where a grammar can say so.
      const free = thoughts !== 'behind' && grammarOf('nothing', new Set()) !== undefined;
      forced = free
        ? ''
        : forcedAfter(prepared.forced, prompt, thoughts === 'within' ? reasoning : undefined);
      return forced;
    },
    grammar(ends) {
      const begun = forced === '' ? 'nothing' : named === undefined ? 'open' : 'name';
      const found = grammarOf(begun, ends);
      return found && { ...found, kind: 'lark' };
    },
    writes: () => (startStream, prompt) => {
      const parser = createAnswerParser({
        ...{ format, reasoning, tools: functions, alphabet },
        newId: () => newCallId(facts.shortIds),
        parallel: options.parallel_tool_calls ?? true,
        thinking: thoughts === 'within',
        hasTextFormat: asked !== undefined,
      });
      const { specialText } = tokenizer;
      return createParsingWriter({
        ...{ parser, alphabet, specialText, startStream, prompt },
        begun: alphabet.marker(forced),
      });
    },
    checked: (pieces) => (mustCall ? withCalls(pieces) : pieces),
  };
}

function placeOf(reasoning: ReasoningFormat | undefined, prompt: string): ChatGrammarInput['thoughts'] {
  const text = prompt.trimEnd();
  if (!reasoning || text.endsWith(reasoning.end)) return 'behind';
  return text.endsWith(reasoning.start) ? 'within' : 'before';
}

/** What begins a call behind a prompt; thoughts that it has begun are ended. */
function forcedAfter(forced: string, prompt: string, thought: ReasoningFormat | undefined): string {
  if (forced === '') return '';
  const before = thought ? `${thought.end}\n\n` : '';
  return before + (prompt.endsWith('\n') || thought ? forced.replace(/^\n+/, '') : forced);
}

async function* withCalls(pieces: Pieces): Pieces {
  const found = yield* pieces;
  if (found.some(({ toolCalls, finish }) => !toolCalls && finish !== 'length'))
    throw new RunError(
      'unprocessable',
      'params.tool_choice: the model wrote no call that can be read; ask with tool_choice auto, or another model',
    );
  return found;
}
