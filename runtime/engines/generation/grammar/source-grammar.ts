import { RunError } from '../../../core/errors.js';
import type { GenerateOptions } from '../../../core/handles/index.js';
import { Lark } from '../../tool-calls/grammar/lark.js';
import type { TextTokenizer } from '../../tokenizers/tokenizer.js';
import type { GenerationSettings } from '../settings/settings.js';
import { answerText } from './answer-text.js';
import { type AskedGrammar, askedGrammar } from './asked-grammar.js';
import { contradictingParam } from './check-settings.js';

export interface SourceGrammar {
  asked: AskedGrammar;
  settings: GenerationSettings;
}

/**
 * What a request asks of the text of a model with an encoder. A first token that the repository forces stands before it, if it leaves no text;
 * a last one would come only where a text is cut, and is left out.
 * @param prompt what the decoder begins with
 * @throws RunError 400 as `askedGrammar`, 422 for a parameter that contradicts it
 */
export function sourceGrammar(
  tokenizer: TextTokenizer,
  {
    options,
    settings,
    prompt,
  }: { options: GenerateOptions; settings: GenerationSettings; prompt: readonly number[] },
): SourceGrammar | undefined {
  const asked = askedGrammar(options);
  if (!asked) return undefined;
  const { forcedBosTokenId: first } = settings;
  const silent = first === undefined || tokenizer.specialText(first) !== undefined;
  const forcedEosTokenIds = options.forced_eos_token_id == null ? [] : settings.forcedEosTokenIds;
  const own = { ...settings, forcedEosTokenIds, cleanUp: false };
  const param = contradictingParam(silent ? { ...own, forcedBosTokenId: undefined } : own, options);
  if (param !== undefined)
    throw new RunError('unprocessable', `params.${param}: does not go with params.${asked.param}`);
  return { settings: own, asked: dropsFirstBlank(tokenizer, prompt) ? withFirstBlank(asked) : asked };
}

/** Whether decoding leaves out the blank that a first word begins with, as with sentencepiece. */
function dropsFirstBlank(tokenizer: TextTokenizer, prompt: readonly number[]): boolean {
  for (let id = 0; id < tokenizer.idLimit; id++) {
    if (tokenizer.tokenOf(id) === undefined || tokenizer.specialText(id) !== undefined) continue;
    const bytes = tokenizer.bytesOf(id);
    if (bytes[0] !== 0x20 || bytes.length < 2) continue;
    return !tokenizer.decode([...prompt, id], { skipSpecialTokens: true, cleanUp: false }).startsWith(' ');
  }
  return false;
}

function withFirstBlank(asked: AskedGrammar): AskedGrammar {
  const lark = new Lark({ ids: new Map(), ends: new Set() });
  const text = answerText(asked)(lark);
  return { ...asked, kind: 'lark', source: lark.toString(`" "? ${text}`) };
}
