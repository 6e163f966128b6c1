import { RunError } from '../../../core/errors.js';
import { quietPieces } from '../../audio/quiet-pieces.js';
import type { Json } from '../../repository/model-folder.js';
import type { TextTokenizer } from '../../tokenizers/tokenizer.js';
import { languageCode } from './spoken-languages.js';
import type { SpeechPrompts } from './speech-prompts.js';

/** Of CohereAsrProcessor. */
const LANGUAGES = ['ar', 'de', 'el', 'en', 'es', 'fr', 'it', 'ja', 'ko', 'nl', 'pl', 'pt', 'vi', 'zh'];
/** Languages whose texts are joined without a space. */
const WITHOUT_SPACES = ['ja', 'zh'];

const tokensOf = (language: string): string[] => [
  ...['▁', '<|startofcontext|>', '<|startoftranscript|>', '<|emo:undefined|>'],
  ...[`<|${language}|>`, `<|${language}|>`, '<|pnc|>', '<|noitn|>', '<|notimestamp|>', '<|nodiarize|>'],
];

const asked = (language: string | null | undefined): string => {
  if (language != null) return languageCode(language, LANGUAGES);
  throw new RunError(
    'unprocessable',
    `params.language: this model has to be told which language is spoken: ${LANGUAGES.join(', ')}`,
  );
};

/** As _reassemble_chunk_texts joins them. */
function joined(texts: readonly string[], separator: string): string {
  const [first, ...rest] = texts.filter((text) => text.trim() !== '');
  return [first?.trimEnd() ?? '', ...rest.map((text) => text.trim())].join(separator);
}

/** CohereAsrProcessor. @param settings of its feature extractor */
export function cohereAsrPrompts(tokenizer: TextTokenizer, settings: Json, rate: number): SpeechPrompts {
  const unknown = tokenizer.namedId('unk_token');
  const idOf = (token: string) => {
    const id = tokenizer.idOf(token) ?? unknown;
    if (id !== undefined) return id;
    throw new RunError('not_ready', `tokenizer.json: no token ${token}, with which prompts are written`);
  };
  return {
    languages: LANGUAGES,
    language: ({ language }) => asked(language),
    refused: ['task', 'chunk_length_s', 'stride_length_s'],
    tokens: ({ language }) => tokensOf(asked(language)).map(idOf),
    pieces: quietPieces(settings, rate),
    join: (texts, { language }) => joined(texts, WITHOUT_SPACES.includes(asked(language)) ? '' : ' '),
  };
}
