import type { Response } from 'express';
import type { Delta } from '../core/delta.js';
import type { ModerationFlags } from '../core/moderation.js';
import type { TaskId } from '../core/task-ids.js';
import type { Usage } from '../core/usage.js';
import type { JsonBodyOptions } from '../wire/json-body.js';

/** A model as dialects see it. */
export interface ServedModel {
  readonly modelId: string;
  readonly task: TaskId;
  /** Which of its labels flag a text, where the operator has said so. */
  readonly moderation?: ModerationFlags | undefined;
}

/** A whole answer: the task's output (media as a MediaOutput or as a data URL) and its tokens, where they are counted. */
export interface ModelAnswer {
  output: unknown;
  usage: Usage | undefined;
}

/** A piece of a streamed answer, or, at its end, the tokens. */
export type AnswerPiece = Delta | { usage: Usage | undefined };

/** Tokens of one call. */
export interface TokenCounts {
  in: number;
  out: number;
  /** Those of `out` that the model thought with, where they were told apart. */
  reasoning?: number;
}

/** A model that is ready to be asked, for the time of one call. */
export interface AskedModel {
  /** Aborted when the caller leaves or a time limit is exceeded. */
  readonly signal: AbortSignal;
  /**
   * Asks for a whole answer.
   * @param body of POST /run
   * @throws RunError as POST /run does
   */
  ask(body: Record<string, unknown>, signal: AbortSignal): Promise<ModelAnswer>;
  /**
   * Asks for a streamed answer; resolves when it has begun.
   * @throws RunError as POST /run does; the iterator throws when the answer breaks off
   */
  stream(body: Record<string, unknown>): Promise<AsyncIterable<AnswerPiece>>;
  /** Response headers, such as the cost so far; read when the answer begins. */
  headers(): Record<string, string>;
}

/** What a dialect asks a model for. */
export interface ModelRequest {
  model: ServedModel;
  /** Bodies of POST /run. */
  bodies: readonly Record<string, unknown>[];
  /** Files that callers have sent as they are, by the names that stand for them in `base64`. */
  files?: ReadonlyMap<string, Uint8Array> | undefined;
}

/** What is behind the address that a dialect is mounted on: one model, or the models of a catalogue. */
export interface DialectHost {
  /** Path that the routes are below; empty at the root. */
  readonly base: string;
  models(): readonly ServedModel[];
  /** Whether calls are answered now; a gateway starts models when they are asked. */
  ready(): boolean;
  /** @param name what the caller wrote as the model, which counts only where there are several */
  find(name: string | undefined): ServedModel | undefined;
  /** Path of the model's own interface (POST /run). */
  runPath(model: ServedModel): string;
  /** Limits of a body for one of these tasks; `batch` for bodies that hold the inputs of many requests. */
  bodyOptions(tasks: readonly TaskId[], batch?: boolean): JsonBodyOptions;
  /**
   * Checks the bodies, then makes the model ready for `use`, which sends the answer.
   * @throws RunError for a body that the task does not accept, before any model is started
   */
  withModel(
    request: ModelRequest,
    response: Response,
    use: (asked: AskedModel) => Promise<void>,
  ): Promise<void>;
  /** Records the tokens of a call, where calls are counted. */
  count(response: Response, tokens: TokenCounts): void;
}
