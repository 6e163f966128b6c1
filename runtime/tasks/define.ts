import type { z } from 'zod';
import type { EncodedJson } from '../core/encoded-json.js';
import type { Handles, Head } from '../core/handles/index.js';
import type { EngineId, Profile } from '../core/spec.js';
import type { Usage } from '../core/usage.js';

/** Bytes of a picture, sound or film that the request named by url or base64. */
export interface Media {
  bytes: Uint8Array;
  /** What the bytes are by their own signature, e.g. `image/png`. */
  mediaType: string;
}

/** A validated request body in which url and base64 have been replaced by `media`. */
export type Resolved<Input> = Omit<Input, 'url' | 'base64'> & { media: Media };

export interface RunContext {
  /** Aborts when the caller went away or the deadline passed; checked between steps. */
  signal: AbortSignal;
  /** Takes what the request came to, before its output. */
  count(usage: Usage): void;
}

/** How one engine serves a task. */
export interface EngineBinding<H extends Head, Input, Output> {
  /** Values of `model_type` in config.json that this engine serves; absent: all. */
  modelTypes?: readonly string[];
  /** What to load. */
  head: H;
  /** Graph roles that the engine opens; the store looks for one ONNX file each. */
  graphs: readonly string[];
  /** Other sets of roles that serve as well, where that one is not there. */
  otherGraphs?: readonly (readonly string[])[];
  /** Other files of the repository that this task reads, as names or `*.ext` patterns, where they exist. */
  files: readonly string[];
  /** A request that suits this very model, where the task's example may not; with its url, for tasks that take media. */
  example?(handle: Handles[H]): Record<string, unknown>;
  /**
   * An async function, or an async generator that yields text and returns the output. Large outputs may come as JSON
   * already.
   */
  run(
    handle: Handles[H],
    input: Resolved<Input>,
    context: RunContext,
  ): Promise<Output | EncodedJson> | AsyncGenerator<string, Output>;
}

/** What kind of value fills the request's main field, which decides how the `input` shorthand is read. */
export type Modality = 'text' | 'messages' | 'image' | 'audio' | 'video' | 'none';

export interface TaskDefinition<Input = unknown, Output = unknown> {
  title: string;
  /** One sentence for the generated pages. */
  summary: string;
  modality: Modality;
  /** True when `stream: true` streams text; elsewhere the flag is ignored. */
  streams: boolean;
  /** Why this request has no answer as a stream, for a task that streams. */
  unstreamable?(input: Input): string | undefined;
  profile: Profile;
  /** The request body, less the keys that every task shares (stream, json). */
  input: z.ZodType<Input>;
  output: z.ZodType<Output>;
  /** A request body that works, for the documents. Media are replaced by a synthetic one when it warms up a model. */
  example: Record<string, unknown>;
  /** Of several engines the first one that serves a model's type is taken. */
  engines: Partial<{ [E in EngineId]: { [H in Head]: EngineBinding<H, Input, Output> }[Head] }>;
}

/** A task of the interface whose issue has not landed yet. */
export interface PlannedTask {
  title: string;
  planned: true;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a registry row hides its own types
export type AnyTask = TaskDefinition<any, any>;

/** Infers the types of a task from its schemas. */
export function defineTask<I extends z.ZodType, O extends z.ZodType>(
  task: Omit<TaskDefinition<z.output<I>, z.output<O>>, 'input' | 'output'> & { input: I; output: O },
): TaskDefinition<z.output<I>, z.output<O>> {
  return task as unknown as TaskDefinition<z.output<I>, z.output<O>>;
}

export function planned(title: string): PlannedTask {
  return { title, planned: true };
}

export function isPlanned(task: AnyTask | PlannedTask): task is PlannedTask {
  return 'planned' in task;
}
