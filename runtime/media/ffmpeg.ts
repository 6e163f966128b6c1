import { spawn } from 'node:child_process';
import { access, constants, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RunError } from '../core/errors.js';
import { scratchOf } from '../scratch.js';

/**
 * The formats that are opened. None of them names other files or addresses, as playlists do; a container's references to
 * other files are off in ffmpeg unless they are asked for.
 */
const DEMUXERS = [
  ...['wav', 'w64', 'aiff', 'caf', 'mp3', 'aac', 'ogg', 'flac', 'amr', 'mov', 'mp4', 'matroska', 'webm'],
  ...['avi', 'gif', 'mpegts', 'mpeg', 'flv', 'asf'],
];

/** Largest single allocation. */
const MAX_ALLOC = 512 * 2 ** 20;
/** What is kept of its messages. */
const MESSAGES = 2000;

/** What is to be made of a file. */
export interface FfmpegWork {
  /** Options between input and output, which say what is written to standard output. */
  options: readonly string[];
  /** Options before the input. */
  inputOptions?: readonly string[];
  /** Told of the output as it comes; what it throws ends the work. */
  onData(chunk: Buffer): void;
  signal: AbortSignal;
}

/**
 * Has ffmpeg read bytes, as a process of its own that reaches neither the network nor other files, and that ends with its
 * caller. The bytes lie in a temporary file meanwhile, since some formats have their index at the end.
 *
 * @returns what ffmpeg said: a broken file may have given some output before
 * @throws RunError `engine_failed` without ffmpeg or a place for the file; what `onData` threw; the signal's reason
 */
export async function runFfmpeg(bytes: Uint8Array, work: FfmpegWork): Promise<string> {
  work.signal.throwIfAborted();
  const folder = await mkdtemp(join(await writableFolder(), scratchOf(process.pid)));
  try {
    const file = join(folder, 'input');
    await writeFile(file, bytes, { signal: work.signal });
    return await runOver(file, work);
  } catch (error) {
    work.signal.throwIfAborted();
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

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

function runOver(file: string, { options, inputOptions = [], onData, signal }: FfmpegWork): Promise<string> {
  const guards = ['-nostdin', '-v', 'error', '-max_alloc', String(MAX_ALLOC)];
  const input = ['-protocol_whitelist', 'file,pipe', '-format_whitelist', DEMUXERS.join(',')];
  const child = spawn('ffmpeg', [...guards, ...input, ...inputOptions, '-i', file, ...options, 'pipe:1'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
    killSignal: 'SIGKILL',
  });
  return new Promise((resolve, reject) => {
    let messages = '';
    let failure: Error | undefined;
    child.stderr.on('data', (text: Buffer) => {
      if (messages.length < MESSAGES) messages += text.toString().replaceAll(file, 'the file');
    });
    child.stdout.on('data', (chunk: Buffer) => {
      if (failure !== undefined) return;
      try {
        onData(chunk);
      } catch (error) {
        failure = error as Error;
        child.kill('SIGKILL');
      }
    });
    child.on('error', (error) => {
      failure ??= error;
      // One that did not start does not close.
      if (child.pid === undefined) reject(notStarted(error));
    });
    child.on('close', () => (failure === undefined ? resolve(messages.trim()) : reject(failure)));
  });
}

function notStarted(error: Error): RunError {
  return new RunError('engine_failed', 'ffmpeg can’t be started', { cause: error });
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
