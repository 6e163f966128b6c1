import type { z } from 'zod';
import type { Delta } from '../core/delta.js';
import type { EncodedJson } from '../core/encoded-json.js';
import type { MediaOutput } from '../core/media-output.js';
import type { Handles, Head } from '../core/handles/index.js';
import type { EngineId, Profile } from '../core/spec.js';
import type { Progress } from '../core/progress.js';
import type { ToolSupport } from '../core/tools.js';
import type { Usage } from '../core/usage.js';

/** Bytes of an image, audio or video that the request gave by url or base64. */
export interface Media {
  bytes: Uint8Array;
  /** Type detected from the bytes, e.g. `image/png`. */
  mediaType: string;
}

/** A validated request body in which url and base64 have been replaced by `media`. */
export type Resolved<Input> = Omit<Input, 'url' | 'base64'> & { media: Media };

export interface RunContext {
  /** Aborts when the caller leaves or the deadline passes; checked between steps. */
  signal: AbortSignal;
  /** Records the usage; called before the output is returned. */
  count(usage: Usage): void;
  /** Tells each step, for tasks that do. */
  tell(progress: Progress): void;
}

/** How one engine serves a task. */
export interface EngineBinding<H extends Head, Input, Output> {
  /** It serves only models whose type declares this head (runtime/models/declared-heads.ts); all if absent. */
  declaredOnly?: true;
  /** The head to load. */
  head: H;
  /** Graph roles that the engine opens, one ONNX file each. */
  graphs: readonly string[];
  /** Alternative sets of roles, used if that one is missing. */
  otherGraphs?: readonly (readonly string[])[];
  /** Other files of the repository that this task reads if they exist, as names or `*.ext` patterns. */
  files: readonly string[];
  /** More of them for some values of `model_type`. */
  typeFiles?: Readonly<Record<string, readonly string[]>>;
  /** How answers of this model are told apart, for tasks that call tools. */
  tools?(handle: Handles[H]): ToolSupport | undefined;
  /** What voices of this model are called, for tasks that speak. */
  voices?(handle: Handles[H]): readonly string[];
  /** An example request for this model, if the task's may not suit it; with a url, for tasks that take media. */
  example?(handle: Handles[H]): Record<string, unknown>;
  /**
   * An async function, or an async generator that yields text, or other pieces of an answer, and returns the output. Large outputs may be encoded as JSON
   * already; media are bytes, of which the server makes the data URL that `output` describes.
   */
  run(
    handle: Handles[H],
    input: Resolved<Input>,
    context: RunContext,
  ): Promise<Output | EncodedJson | MediaOutput> | AsyncGenerator<string | Delta, Output>;
}

/** Kind of the request's main field, which decides how the `input` shorthand is read. */
export type Modality = 'text' | 'messages' | 'image' | 'audio' | 'video' | 'none';

export interface TaskDefinition<Input = unknown, Output = unknown> {
  title: string;
  /** One sentence for the generated pages. */
  summary: string;
  modality: Modality;
  /** Media that blocks of messages may contain; the main kind where they are several. */
  blocks?: 'image' | 'audio' | 'video';
  /** Kind of medium that it makes, which `json: true` asks for as it is. */
  makes?: 'image' | 'audio' | 'video';
  /** True if `stream: true` streams text; otherwise the flag is ignored. */
  streams: boolean;
  /** True if it tells its steps: as events where `stream: true` asks for them and the client accepts events. */
  tellsSteps?: boolean;
  /** For a task that streams: why this request can't be streamed, if so. */
  unstreamable?(input: Input): string | undefined;
  profile: Profile;
  /** The request body without the keys that all tasks share (stream, json). */
  input: z.ZodType<Input>;
  output: z.ZodType<Output>;
  /** An example request body, for the documents. For the golden request, its media are replaced by a synthetic image. */
  example: Record<string, unknown>;
  /** The first engine that serves the model's type is used. */
  engines: Partial<{ [E in EngineId]: { [H in Head]: EngineBinding<H, Input, Output> }[Head] }>;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a registry row hides its own types
export type AnyTask = TaskDefinition<any, any>;

/** Infers the types of a task from its schemas. */
export function defineTask<I extends z.ZodType, O extends z.ZodType>(
  task: Omit<TaskDefinition<z.output<I>, z.output<O>>, 'input' | 'output'> & { input: I; output: O },
): TaskDefinition<z.output<I>, z.output<O>> {
  const defined = task as unknown as TaskDefinition<z.output<I>, z.output<O>>;
  return { ...defined, engines: { ...defined.engines, ...llamaBinding(defined.engines) } };
}

/** Heads that models in GGUF have, too (runtime/engines/llama/). */
const LLAMA_HEADS: readonly Head[] = ['causal-lm', 'embedding', 'sequence-classification'];

/** The same task over the one file of a model in GGUF, which has all that the head reads. */
function llamaBinding<Input, Output>(
  engines: TaskDefinition<Input, Output>['engines'],
): TaskDefinition<Input, Output>['engines'] {
  const bindings = Object.values(engines) as EngineBinding<Head, Input, Output>[];
  const shared = bindings.find(({ head, declaredOnly }) => !declaredOnly && LLAMA_HEADS.includes(head));
  if (!shared) return {};
  const { otherGraphs: _, typeFiles: __, ...binding } = shared;
  return { llama: { ...binding, graphs: ['model'], files: [] } } as TaskDefinition<Input, Output>['engines'];
}
