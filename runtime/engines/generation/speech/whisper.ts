import { RunError } from '../../../core/errors.js';
import type { RecognitionOptions, SpeechOptions, Transcript } from '../../../core/handles/index.js';
import type { AudioFeatures } from '../../processors/audio/audio-features.js';
import type { WholeFeatures, WhisperExtractor } from '../../processors/audio/whisper.js';
import { firstNumber } from '../../repository/model-folder.js';
import { inParallel } from '../../../weights/in-parallel.js';
import { fallbackRules } from './fallback.js';
import { createTranscriber, detectLanguage, type Listening, type WhisperModel } from './transcribe-window.js';
import { createPreviousText, previousTextRules, promptIdsOf } from './previous-text.js';
import { seekAfter } from './seek.js';
import { type AudioPiece, audioPieces } from '../../audio/audio-pieces.js';
import { alignmentOf, statesOfTokens } from './word-times/alignment.js';
import { wordsOf } from './word-times/words.js';
import { languageIn, whisperPrompt, type WhisperTokens, whisperTokens } from './whisper-prompt.js';
import { type TranscribedPiece, whisperText } from './whisper-text.js';

/** Pieces of an audio clip that are under way: they share runs, and others come in between. */
const PIECES_AT_ONCE = 8;
/** The token after which those of times come. */
const NO_TIMESTAMPS = '<|notimestamps|>';
/** Frames of a state of the encoder. */
const FRAMES_PER_STEP = 2;

/** Writes down samples of any length. */
export type Transcribe = (
  samples: Float32Array,
  options: RecognitionOptions,
  signal: AbortSignal,
) => Promise<Transcript>;

/** WhisperForConditionalGeneration: windows one after the other, or pieces that overlap. */
export function createWhisper(model: WhisperModel): Transcribe {
  const { extractor, tokenizer } = model;
  const tokens = whisperTokens(model.repository, model.config);
  const { windowFrames, rate } = extractor;
  const timestampBegin = (tokens.noTimestamps ?? Infinity) + 1;
  const previousRules = previousTextRules(model.repository, model.config, timestampBegin);
  const rules = textRules(model, timestampBegin);

  return async (
    samples,
    { language, task, return_timestamps, return_chunks, prompt_ids, condition_on_prev_tokens, ...others },
    signal,
  ) => {
    const { chunk_length_s, stride_length_s, temperature, prompt, ...options } = others;
    const fallback = fallbackRules(options, temperature, model);
    const before = {
      prompt_ids: prompt?.trim() ? promptIdsOf(prompt, tokenizer, previousRules) : prompt_ids,
      condition_on_prev_tokens:
        condition_on_prev_tokens ?? model.repository['condition_on_prev_tokens'] === true,
    };
    const pieces = audioPieces(samples, { chunk_length_s, stride_length_s }, { rate, align: 1 });
    const isLong = pieces === undefined && samples.length > extractor.windowSamples;
    checkKindOfTimes(return_timestamps);
    // Seams between pieces go by times of words; the text of one piece does not.
    const needsWords = return_timestamps === 'word' && (return_chunks || (pieces?.length ?? 1) > 1);
    const alignment = needsWords ? alignmentOf(model) : undefined;
    // As in Python, false asks for nothing: the repository's own setting stays, and long audio clips are transcribed by times.
    const asked = return_timestamps != null && return_timestamps !== false;
    const wanted = asked || isLong || model.repository['return_timestamps'] === true;
    if (wanted) requireTimestamps(tokens);
    const choice = { language, task, timestamps: wanted };
    const listening: Listening = { options, choice, before, fallback, alignment, signal };
    let spoken: string | undefined;
    const transcribePiece = async (piece: AudioPiece, own: AbortSignal): Promise<TranscribedPiece> => {
      const found = await listen(piece.samples, { ...listening, signal: own }, pieces !== undefined);
      spoken ??= found.language;
      const seconds = {
        length: piece.samples.length / rate,
        left: piece.left / rate,
        right: piece.right / rate,
      };
      return { tokens: found.tokens, times: found.times, overlap: pieces && seconds };
    };
    const transcribed = await inParallel(
      PIECES_AT_ONCE,
      signal,
      pieces ?? [{ samples, left: 0, right: 0 }],
      transcribePiece,
    );
    const tokensOut = transcribed.reduce((sum, piece) => sum + piece.tokens.length, 0);
    const words = alignment && wordReader(model, task === 'translate' ? 'en' : spoken);
    const { text, ...parts } = whisperText(transcribed, { ...rules, words });
    return {
      ...{ text, words: parts.words },
      chunks: wanted ? parts.chunks : undefined,
      language: spoken,
      tokensOut,
      seconds: samples.length / rate,
    };
  };

  /** Transcribes an audio clip window by window; a piece is one window, and cut to it. */
  async function listen(
    samples: Float32Array,
    listening: Listening,
    isPiece: boolean,
  ): Promise<{ tokens: number[]; times: number[] | undefined; language: string | undefined }> {
    const fits = isPiece || samples.length <= extractor.windowSamples;
    const whole = await extractor.whole(
      samples,
      fits ? extractor.windowSamples : samples.length,
      listening.signal,
    );
    let prompt: number[] | undefined;
    const previous = createPreviousText(listening.before, previousRules);
    const transcribe = createTranscriber(model, tokens, listening);
    const { alignment } = listening;
    const transcribed: number[] = [];
    const times: number[] | undefined = alignment && [];
    const frames = audioFrames(samples.length, isPiece, extractor);
    for (let seek = 0; seek < whole.frames;) {
      listening.signal.throwIfAborted();
      const source = windowOf(whole, seek, extractor);
      prompt ??= await whisperPrompt(tokens, listening.choice, () =>
        detectLanguage(model, tokens, source, listening),
      );
      const begin = [...previous.prefix, ...prompt];
      const said = await transcribe({ source, prefix: previous.prefix, prompt });
      const left = Math.min(windowFrames, whole.frames - seek);
      const next = said.isSilent
        ? { tokens: [], frames: left }
        : seekAfter(said.tokens, { timestampBegin, windowFrames: left, framesPerStep: FRAMES_PER_STEP });
      transcribed.push(...next.tokens);
      if (alignment && next.tokens.length > 0) {
        const states = Math.floor((frames - seek) / FRAMES_PER_STEP);
        const asked = { source, begin, tokens: said.allTokens, states };
        const found = await statesOfTokens(model, alignment, asked, listening.signal);
        times!.push(...secondsOf(found.slice(0, next.tokens.length), seek, rules.secondsPerStep));
      }
      previous.add(next.tokens, said.isTrusted);
      // Rules forbid a pair of times at the start; a window that went back would never end.
      seek += next.frames > 0 ? next.frames : left;
    }
    return { tokens: transcribed, times, language: languageIn(prompt ?? [], tokens) };
  }
}

function textRules({ tokenizer, config, extractor }: WhisperModel, timestampBegin: number) {
  const { windowFrames, hop, rate } = extractor;
  const states = firstNumber(config, 'max_source_positions') ?? windowFrames / FRAMES_PER_STEP;
  // Python's tokenizer goes by its own tokens, whatever the repository's settings name.
  const timeless = tokenizer.idOf(NO_TIMESTAMPS);
  return {
    timestampBegin: timeless === undefined ? timestampBegin : timeless + 1,
    specialIds: tokenizer.specialIds,
    secondsPerStep: (windowFrames * hop) / rate / states,
    decode: decoderOf(tokenizer),
  };
}

const decoderOf = (tokenizer: WhisperModel['tokenizer']) => (ids: readonly number[]) =>
  tokenizer.decode(ids, { skipSpecialTokens: false });

/** @param language that the text is in */
function wordReader({ tokenizer }: WhisperModel, language: string | undefined) {
  const rules = { decode: decoderOf(tokenizer), end: tokenizer.namedId('eos_token') ?? Infinity };
  return (ids: readonly number[]) => wordsOf(ids, language, rules);
}

/** Frames that the audio has without silence, as Python reckons them: those of a piece are rounded up. */
function audioFrames(length: number, isPiece: boolean, { windowFrames, hop }: WhisperExtractor): number {
  return isPiece ? Math.min(windowFrames, Math.ceil(length / hop)) : Math.floor(length / hop);
}

/** @param seek frames before the window */
const secondsOf = (states: readonly number[], seek: number, secondsPerStep: number): number[] =>
  states.map((state) => Math.max(0, state + seek / FRAMES_PER_STEP) * secondsPerStep);

function checkKindOfTimes(kind: SpeechOptions['return_timestamps']): void {
  if (kind !== 'char') return;
  throw new RunError(
    'unprocessable',
    'params.return_timestamps: Whisper knows times of segments and of words, not of letters; set true',
  );
}

function requireTimestamps({ noTimestamps }: WhisperTokens): void {
  if (noTimestamps !== undefined) return;
  throw new RunError(
    'unprocessable',
    'params.return_timestamps: the repository has no no_timestamps_token_id in generation_config.json, so audio of up to ' +
      '30 s only, or pieces of them (params.chunk_length_s)',
  );
}

/** Frames from `seek` on as one window, followed by zeros. */
function windowOf(
  { values, frames }: WholeFeatures,
  seek: number,
  { windowFrames, filters }: WhisperExtractor,
): AudioFeatures {
  const content = Math.min(windowFrames, frames - seek);
  const window = new Float32Array(filters * windowFrames);
  for (let i = 0; i < filters; i++) {
    const from = i * frames + seek;
    window.set(values.subarray(from, from + content), i * windowFrames);
  }
  const mask = { length: windowFrames, content };
  return { input: 'input_features', values: window, dims: [1, filters, windowFrames], mask };
}
