import type { Response } from 'express';
import { RunError } from '../../../core/errors.js';
import { writeChunk } from '../../../wire/lifetime.js';
import { readMultipart } from '../../../wire/multipart.js';
import { sendJson } from '../../../wire/respond.js';
import { answerAll } from '../../ask.js';
import type { DialectCall, DialectRoute } from '../../dialect.js';
import { openEvents } from '../../events.js';
import { readFields, tellHints } from '../../fields.js';
import { requireModel } from '../../require-model.js';
import { type Segment, srtOf, vttOf } from './subtitles.js';
import { type TranscriptionFields, transcriptionBody } from './transcription-body.js';

export const SPEECH_TASKS = ['automatic-speech-recognition'] as const;

/** Name of the one file in the body of POST /run. */
const FILE = 'file';

/** How callers call what the task may refuse. */
const NAMES = { base64: 'file', return_timestamps: 'response_format', task: 'model' };

/** Formats that tell times. */
const TIMED: ReadonlySet<string> = new Set(['srt', 'vtt', 'verbose_json']);

/** Which parts of a transcript are told with their times. */
interface WantedTimes {
  segments: boolean;
  words: boolean;
}

const wantedTimes = ({ timestamp_granularities: given = [] }: TranscriptionFields): WantedTimes => ({
  ...{ words: given.includes('word'), segments: given.length === 0 || given.includes('segment') },
});

/** What the task answers with return_chunks. */
interface Transcript {
  text: string;
  language: string | null;
  duration: number;
  chunks?: Part[];
  /** Where the chunks are words. */
  segments?: Part[];
}

interface Part {
  text: string;
  timestamp: [number | null, number | null];
}

/** POST v1/audio/transcriptions, and translations into English. */
export function transcribe(task: 'transcribe' | 'translate'): DialectRoute['handle'] {
  return async (call: DialectCall) => {
    const { request, response, host } = call;
    const { fields, files } = await readMultipart(request, response, host.bodyOptions(SPEECH_TASKS));
    const given = readFields(transcriptionBody, valuesOf(fields));
    tellHints(response, transcriptionBody.shape, given);
    const [file] = files.get('file') ?? [];
    if (!file) throw new RunError('invalid_input', 'file: is required');
    const wants = wantedTimes(given);
    if (wants.words && given.response_format !== 'verbose_json')
      throw new RunError(
        'invalid_input',
        'timestamp_granularities: words stand in verbose_json alone; set response_format to it',
      );
    const model = requireModel(host, given.model, SPEECH_TASKS);
    const bodies = [{ base64: FILE, params: paramsOf(given, task, wants) }];
    const names = wants.words ? { ...NAMES, return_timestamps: 'timestamp_granularities' } : NAMES;
    const asking = { model, bodies, files: new Map([[FILE, file]]), names };
    await answerAll(call, asking, async ([answer]) => {
      const transcribed = answer!.output as Transcript;
      // Whisper's words begin with a blank, which OpenAI's answers do not have.
      const transcript = { ...transcribed, text: transcribed.text.trim() };
      if (given.stream) return sendStream(response, transcript.text);
      send(response, transcript, { format: given.response_format, task, wants });
    });
  };
}

/** Fields that may come several times are lists. */
function valuesOf(fields: ReadonlyMap<string, readonly string[]>): Record<string, unknown> {
  const isList = (name: string) => name === 'timestamp_granularities' || name === 'include';
  return Object.fromEntries(
    Array.from(fields, ([name, values]) => [name, isList(name) ? values : values[0]]),
  );
}

function paramsOf(
  { language, temperature, prompt, response_format }: TranscriptionFields,
  task: 'transcribe' | 'translate',
  { words }: WantedTimes,
): Record<string, unknown> {
  return {
    return_chunks: true,
    ...(TIMED.has(response_format) ? { return_timestamps: words ? 'word' : true } : {}),
    ...(task === 'translate' ? { task } : {}),
    ...(language ? { language } : {}),
    ...(prompt ? { prompt } : {}),
    ...(temperature === undefined ? {} : { temperature }),
  };
}

interface Sending {
  format: TranscriptionFields['response_format'];
  task: string;
  wants: WantedTimes;
}

function send(response: Response, transcript: Transcript, { format, task, wants }: Sending): void {
  const { text, language, duration } = transcript;
  switch (format) {
    case 'json':
      return sendJson(response, 200, JSON.stringify({ text, usage: usageOf(duration) }));
    case 'text':
      return sendText(response, `${text}\n`, 'text/plain');
    case 'srt':
      return sendText(response, srtOf(segmentsOf(transcript)), 'application/x-subrip');
    case 'vtt':
      return sendText(response, vttOf(segmentsOf(transcript)), 'text/vtt');
    case 'verbose_json': {
      const parts = wants.words ? { ...transcript, chunks: transcript.segments } : transcript;
      const body = {
        ...{ task, language, duration, text },
        ...(wants.words && { words: wordsOf(transcript) }),
        ...(wants.segments && { segments: segmentsOf(parts).map((segment, id) => ({ id, ...segment })) }),
        usage: usageOf(duration),
      };
      return sendJson(response, 200, JSON.stringify(body));
    }
  }
}

const usageOf = (duration: number) => ({ type: 'duration', seconds: Math.ceil(duration) });

/** A time that the model did not tell is that of the audio. */
function segmentsOf({ duration, chunks = [] }: Pick<Transcript, 'duration' | 'chunks'>): Segment[] {
  return chunks.map(({ text: said, timestamp: [start, end] }) => ({
    text: said,
    start: start ?? 0,
    end: end ?? duration,
  }));
}

/** Whisper's words hold the blank before them, which OpenAI's don't. */
const wordsOf = (transcript: Transcript) =>
  segmentsOf(transcript).map(({ text, ...times }) => ({ word: text.trim(), ...times }));

function sendText(response: Response, text: string, type: string): void {
  response.statusCode = 200;
  response.setHeader('Content-Type', `${type}; charset=utf-8`);
  response.end(text);
}

/** A transcript is known when the audio has been transcribed, so it comes as one event. */
async function sendStream(response: Response, text: string): Promise<void> {
  openEvents(response);
  const event = (data: { type: string }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
  await writeChunk(response, event({ type: 'transcript.text.delta', ...{ delta: text } }));
  response.end(event({ type: 'transcript.text.done', ...{ text } }));
}
