import { spawn } from 'node:child_process';
import { access, constants, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { RunError } from '../core/errors.js';
import { scratchOf } from '../boot/scratch.js';
import { DEMUXERS } from './formats.js';

/** Largest single allocation. */
const MAX_ALLOC = 512 * 2 ** 20;

/** What is to be made of a file. */
export interface FfmpegWork {
  /** Options between input and output, which say what is written to standard output. */
  options: readonly string[];
  /** Options for the input. */
  inputOptions?: readonly string[];
  /** ffmpeg can't seek in the input, as in that of a pipe: what it knows only at the end counts for nothing. */
  streamed?: boolean;
  /** Told of the output as it comes, one piece after the other; what it throws ends the work. */
  onData(chunk: Buffer): void | Promise<void>;
  signal: AbortSignal;
}

/** A file that lies in a temporary folder while ffmpeg and ffprobe read it. */
export interface MediaFile {
  /**
   * Has ffmpeg read the file, as a process of its own that reaches neither the network nor other files, and that ends with
   * its caller. A broken file may give some output before it ends.
   * @throws RunError `engine_failed` without ffmpeg; what `onData` threw; the signal's reason
   */
  run(work: FfmpegWork): Promise<void>;
  /**
   * What ffprobe says of the file, as it writes it in JSON; undefined for what it can't read.
   * @throws as `run`
   */
  probe(options: readonly string[], signal: AbortSignal): Promise<unknown>;
}

/**
 * Lays bytes into a temporary file, since some formats have their index at the end.
 * @throws RunError `engine_failed` without a place for the file; what `use` threw; the signal's reason
 */
export async function withMediaFile<T>(
  bytes: Uint8Array,
  signal: AbortSignal,
  use: (file: MediaFile) => Promise<T>,
): Promise<T> {
  return withScratch(signal, async (folder) => {
    const path = join(folder, 'input');
    await writeFile(path, bytes, { signal });
    return use(mediaFile(path));
  });
}

/**
 * Makes a temporary folder that ends with `use`.
 * @throws RunError `engine_failed` without a place for it; what `use` threw; the signal's reason
 */
export async function withScratch<T>(signal: AbortSignal, use: (folder: string) => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const folder = await mkdtemp(join(await writableFolder(), scratchOf(process.pid)));
  try {
    return await use(folder);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** As `run` of a file of these bytes. */
export const runFfmpeg = (bytes: Uint8Array, work: FfmpegWork): Promise<void> =>
  withMediaFile(bytes, work.signal, (file) => file.run(work));

/** Memory where nothing else may be written, as in a container with a read-only file system. */
const PLACES = [tmpdir(), '/dev/shm'];

async function writableFolder(): Promise<string> {
  for (const place of PLACES) {
    const writable = await access(place, constants.W_OK).then(
      () => true,
      () => false,
    );
    if (writable) return place;
  }
  throw new RunError('engine_failed', `no folder for temporary files can be written: ${PLACES.join(', ')}`);
}

export const GUARDS = ['-v', 'error', '-max_alloc', String(MAX_ALLOC)];
const INPUT = ['-protocol_whitelist', 'file,pipe', '-format_whitelist', DEMUXERS.join(',')];

function mediaFile(path: string): MediaFile {
  return {
    async run({ options, inputOptions = [], streamed = false, onData, signal }) {
      const input = [...INPUT, ...inputOptions, '-i', streamed ? 'pipe:0' : path];
      const args = ['-nostdin', ...GUARDS, ...input, ...options, 'pipe:1'];
      const file = streamed ? await open(path) : undefined;
      try {
        await runProgram('ffmpeg', args, { onData, signal, input: file?.fd });
      } finally {
        await file?.close();
      }
    },
    async probe(options, signal) {
      const said: Buffer[] = [];
      const onData = (chunk: Buffer) => void said.push(chunk);
      await runProgram('ffprobe', [...GUARDS, ...INPUT, ...options, '-of', 'json', path], { onData, signal });
      try {
        return JSON.parse(Buffer.concat(said).toString()) as unknown;
      } catch {
        return undefined;
      }
    },
  };
}

export interface ProgramWork extends Pick<FfmpegWork, 'onData' | 'signal'> {
  /** Pieces for standard input, asked for as fast as the program reads them, or an open file. */
  input?: AsyncIterable<Uint8Array> | number | undefined;
}

/**
 * Runs a program that ends with its caller.
 * @returns its exit status; null where a signal ended it
 * @throws RunError `engine_failed` where there is none; what `onData` or `input` threw, or that the program read no further
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  { onData, signal, input }: ProgramWork,
): Promise<number | null> {
  const child = spawn(program, args, {
    stdio: [typeof input === 'number' ? input : input ? 'pipe' : 'ignore', 'pipe', 'ignore'],
    signal,
    killSignal: 'SIGKILL',
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', (error) => {
      // One that did not start does not close.
      if (child.pid === undefined) reject(notStarted(program, error));
    });
    child.on('close', resolve);
  });
  // Whoever waits for the end learns of the failure; until then nobody does.
  ended.catch(() => undefined);
  try {
    const fed = typeof input === 'object' && child.stdin ? pipeline(input, child.stdin) : undefined;
    await Promise.all([fed, readAll(child.stdout!, onData)]);
  } catch (error) {
    child.kill('SIGKILL');
    await ended;
    throw error;
  }
  const status = await ended;
  // One that was killed with its caller has given a part of its output.
  signal.throwIfAborted();
  return status;
}

async function readAll(output: AsyncIterable<Buffer>, onData: FfmpegWork['onData']): Promise<void> {
  for await (const chunk of output) await onData(chunk);
}

function notStarted(program: string, error: Error): RunError {
  return new RunError('engine_failed', `${program} can’t be started`, { cause: error });
}

/**
 * Finds out whether there is an ffmpeg.
 * @throws RunError `not_ready` with what to do
 */
export async function requireFfmpeg(): Promise<void> {
  const found = await new Promise<boolean>((resolve) => {
    const child = spawn('ffmpeg', ['-version'], { stdio: 'ignore' });
    child.on('error', () => resolve(false));
    child.on('close', (code) => resolve(code === 0));
  });
  if (found) return;
  throw new RunError(
    'not_ready',
    'this model needs ffmpeg, and none is installed: install it (apt-get install ffmpeg), or use the model’s image, which has one',
  );
}
