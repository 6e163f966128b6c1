import { RunError } from '../../../core/errors.js';
import type { ChatMessage } from '../../../core/handles/index.js';
import { loadProcessorTemplate } from '../../chat-templates/chat-template.js';
import type { TextTokenizer } from '../../tokenizers/tokenizer.js';
import { languageCode } from './spoken-languages.js';
import type { SpeechPrompts } from './speech-prompts.js';

/** Of CanaryProcessor. */
const LANGUAGES = 'bg hr cs da nl en et fi fr de el hu it lv lt mt pl pt ro sk sl es sv ru uk'.split(' ');

/** CanaryProcessor.apply_transcription_request: the repository's chat template names the languages. */
export async function canaryPrompts(dir: string, tokenizer: TextTokenizer): Promise<SpeechPrompts> {
  const template = await loadProcessorTemplate(dir, tokenizer.config);
  if (!template)
    throw new RunError(
      'not_ready',
      'the repository has no chat template, which writes the prompts of this model',
    );
  const start = tokenizer.namedId('bos_token');
  const bos = start === undefined ? undefined : tokenizer.tokenOf(start);
  const spoken = ({ language }: { language?: string | null | undefined }) =>
    languageCode(language ?? 'en', LANGUAGES);
  return {
    refused: [],
    language: spoken,
    tokens({ language, task }) {
      const source = spoken({ language });
      const asked = {
        type: 'text',
        ...{
          source_language: source,
          target_language: task === 'translate' ? 'en' : source,
          punctuation: true,
        },
      };
      const messages: ChatMessage[] = [{ role: 'user', content: [{ type: 'audio' }, asked] }];
      const text = template.render(messages, { variables: {}, continues: false, keepsBlocks: true });
      // A template that writes the start token itself wants no special tokens.
      const specialTokens = bos === undefined || !text.startsWith(bos);
      return [...tokenizer.encode(text, { specialTokens }).ids];
    },
  };
}
