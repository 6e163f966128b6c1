import type { WholeText } from './answer.js';
import type { ServerEvent } from './events.js';
import type { AnswerPiece, ModelAnswer } from '../../runtime/dialects/host.js';
import type { TaskId } from '../../runtime/core/task-ids.js';
import type { Remote } from './remote.js';

/** A call to a remote model, checked against the schema of its task. */
export interface RemoteCall {
  modelId: string;
  task: TaskId;
  remote: Remote;
  /** Without `params`. */
  input: Record<string, unknown>;
  /** Those that are given; the provider may be asked all of them. */
  params: Params;
  stream: boolean;
}

export type Params = Readonly<Record<string, unknown>>;

/** What a provider is asked, and how its answer is read. */
export interface RemoteRequest {
  /** Below the provider's address. */
  path: string;
  body: Record<string, unknown>;
  /** Reads a whole answer; absent where `body` asks for a stream. @throws RunError for one that is not as it should be */
  read?: ((json: unknown) => ModelAnswer) | undefined;
  /** How a stream is read; absent where there are none. */
  stream?: RemoteStream | undefined;
}

export interface RemoteStream {
  /** Reads a stream; the last piece has the usage. @throws RunError when it is not as it should be, or breaks off */
  pieces(events: AsyncIterable<ServerEvent>): AsyncGenerator<AnswerPiece, void>;
  /** The task's output of all pieces together. */
  output(whole: WholeText): unknown;
}

/** Translates calls for one kind of provider. @throws RunError 400 that names what can't be asked there */
export type Translate = (call: RemoteCall) => RemoteRequest | Promise<RemoteRequest>;
