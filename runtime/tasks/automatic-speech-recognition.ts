import * as z from 'zod';
import type { SpeechRecognizer, TranscriptChunk } from '../core/handles/index.js';
import { defineTask, type Resolved, type RunContext } from './define.js';
import { PROCESSOR_FILES, withMedia } from './fragments.js';
import { withGenerateKwargs } from './generation-params.js';
import { seq2seqFiles, seq2seqParams } from './seq2seq.js';

const {
  truncation: _,
  stop: __,
  stop_sequence: ___,
  num_return_sequences: ____,
  logprobs: _____,
  stream_tokens: ______,
  temperature,
  ...generation
} = seq2seqParams;

const seconds = z.number().min(0);
/** Each may be a text of its own for each window. */
const MOST_TEMPERATURES = 16;
/** Larger than any decoder's positions. */
const MOST_PROMPT = 4096;
/** Characters; many times what any decoder reads. */
const MOST_PROMPT_TEXT = 20_000;

const input = withMedia({
  params: withGenerateKwargs({
    ...generation,
    language: z
      .string()
      .min(1)
      .nullish()
      .describe(
        'name or code of the language that is spoken; by default Whisper detects it, Canary takes English',
      ),
    task: z.enum(['transcribe', 'translate']).nullish().describe('translate: into English'),
    return_timestamps: z
      .union([z.boolean(), z.enum(['word', 'char'])])
      .nullish()
      .describe(
        'have the model predict times; return_chunks has them told. word: of each word, where Whisper’s repository names alignment_heads; char: nothing is told',
      ),
    prompt_ids: z
      .array(z.int().min(0))
      .max(MOST_PROMPT)
      .nullish()
      .describe('tokens of words to expect, with the token of a text before first; Whisper’s'),
    prompt: z
      .string()
      .max(MOST_PROMPT_TEXT)
      .nullish()
      .describe(
        'words to expect as a text, names and spellings for example, in place of prompt_ids; Whisper’s; no parameter of Python’s',
      ),
    condition_on_prev_tokens: z
      .boolean()
      .nullish()
      .describe('what was said stands before the next window of a long audio clip; Whisper’s'),
    temperature: z
      .union([z.number().min(0), z.array(z.number().min(0)).min(1).max(MOST_TEMPERATURES)])
      .nullish()
      .describe(
        `${temperature.description}; of a list, each one is tried until a text misses no threshold; Whisper’s`,
      ),
    compression_ratio_threshold: z
      .number()
      .nullish()
      .describe('texts that compress better are tried again at the next temperature; Whisper’s'),
    logprob_threshold: z
      .number()
      .nullish()
      .describe('texts whose tokens have a lower mean log-probability are tried again; Whisper’s'),
    no_speech_threshold: z
      .number()
      .nullish()
      .describe(
        'such texts are left out where silence is likelier than this; needs logprob_threshold; Whisper’s',
      ),
    return_chunks: z
      .boolean()
      .nullish()
      .describe(
        'answer with an object: the text, the language, the length of the audio, and with return_timestamps the parts of the text, or its words, and their times',
      ),
    chunk_length_s: seconds.nullish().describe('seconds of pieces that overlap; 0 or none: not cut'),
    stride_length_s: z
      .union([seconds, z.tuple([seconds, seconds])])
      .nullish()
      .describe('seconds that a piece shares with its neighbours; a sixth of it by default'),
  }),
});

const time = z.number().nullable();
const parts = z.array(z.object({ text: z.string(), timestamp: z.array(time).length(2) }));

const output = z.union([
  z.string(),
  z.object({
    text: z.string(),
    language: z.string().nullable().describe('code, where the model tells it'),
    duration: z.number().describe('seconds'),
    chunks: parts.optional().describe('parts of the text, or its words, with their begin and end in seconds'),
    segments: parts.optional().describe('with return_timestamps word, the parts beside the words'),
  }),
]);

async function transcribe(
  handle: SpeechRecognizer,
  { media, params }: Resolved<z.output<typeof input>>,
  { signal, count }: RunContext,
): Promise<z.output<typeof output>> {
  const found = await handle.transcribe(media.bytes, params, signal);
  const { text, tokensOut, chunks, words, language, seconds: duration } = found;
  count({ tokensIn: 0, tokensOut, finish: ['stop'] });
  if (!params.return_chunks) return text;
  return {
    ...{ text, language: language ?? null, duration },
    ...(words ? { chunks: timed(words), segments: timed(chunks ?? []) } : {}),
    ...(chunks && !words ? { chunks: timed(chunks) } : {}),
  };
}

const timed = (chunks: readonly TranscriptChunk[]) =>
  chunks.map(({ start, end, ...chunk }) => ({ ...chunk, timestamp: [start, end] }));

const EXAMPLE = { url: 'https://example.com/speech.wav' };

export default defineTask({
  title: 'Speech recognition',
  summary: 'Transcribes the speech of an audio clip.',
  modality: 'audio',
  streams: false,
  profile: 'media',
  input,
  output,
  example: EXAMPLE,
  engines: {
    generation: {
      declaredOnly: true,
      head: 'speech-seq2seq',
      ...seq2seqFiles,
      example: ({ languages }) => (languages ? { ...EXAMPLE, params: { language: languages[0] } } : EXAMPLE),
      files: [...seq2seqFiles.files, ...PROCESSOR_FILES, 'chat_template.jinja', 'chat_template.json'],
      run: transcribe,
    },
    transformers: {
      head: 'ctc',
      graphs: ['model'],
      files: [
        ...PROCESSOR_FILES,
        'generation_config.json',
        'vocab.json',
        'tokenizer.json',
        'added_tokens.json',
        'tokenizer_config.json',
        'special_tokens_map.json',
      ],
      run: transcribe,
    },
  },
});
