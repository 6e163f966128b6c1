import { findEngine } from '../core/engines.js';
import type { ChildProcess } from 'node:child_process';
import { engineEnvironment } from './engine-environment.js';
import { readSpecText } from '../store/spec-text.js';
import { ENGINE_SCRIPT, type EngineFork, forkEngine } from '../worker/fork-engine.js';

/** What has begun before the server's own code is loaded. */
export interface Early {
  /** Text of model.json, which may come from a pipe that is read once. */
  specText: string;
  /** A process for the engine; undefined where it could not be started as the user that it has to be. */
  engine(): ChildProcess | undefined;
}

/**
 * Starts the engine's process, which takes as long to come up as the rest of the server. Settings are looked at only as
 * far as that needs; what is wrong with them, or with model.json, is said by who reads them whole.
 * @returns undefined where there is nothing to begin with
 */
export function beginEarly(env: NodeJS.ProcessEnv): Early | undefined {
  const isInline = !['', '0', 'false', undefined].includes(env['INLINE']);
  const user = userOf(env['RUN_AS']);
  if (isInline || user === null) return undefined;
  const specText = specTextOf(env['MODEL_SPEC'] || '/model.json');
  const { engine, task } = fieldsOf(specText);
  if (specText === undefined || typeof engine !== 'string' || typeof task !== 'string') return undefined;
  return {
    specText,
    engine: forkUsable({
      ...{ entry: ENGINE_SCRIPT, env: engineEnvironment(env, findEngine(engine)?.arena === true) },
      ...{ args: ['--for', engine, task], user },
    }),
  };
}

/** Starts a process that is given as long as it lives. */
function forkUsable(fork: EngineFork): () => ChildProcess | undefined {
  let child: ChildProcess | undefined;
  try {
    child = forkEngine(fork);
  } catch {
    // Without the capability to become another user. The server says that it stays root, and starts another one.
    return () => undefined;
  }
  // Before anyone listens; who takes it listens for himself.
  const spoil = () => void (child = undefined);
  child.once('error', spoil).once('exit', spoil);
  return () => child;
}

/** The user to become: only root can. @returns null for what is no user */
function userOf(value: string | undefined): number | undefined | null {
  if (!value || process.getuid?.() !== 0) return undefined;
  return /^[1-9]\d{0,9}$/.test(value) ? Number(value) : null;
}

function specTextOf(file: string): string | undefined {
  try {
    return readSpecText(file);
  } catch {
    // Read again, and complained about, with the other settings.
    return undefined;
  }
}

function fieldsOf(specText: string | undefined): { engine?: unknown; task?: unknown } {
  try {
    return Object(JSON.parse(specText ?? '{}')) as object;
  } catch {
    // Parsed again, and complained about, with all its fields.
    return {};
  }
}
