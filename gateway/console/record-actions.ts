import type { Request, RequestHandler, Response } from 'express';
import { releaseOnClose } from '../../runtime/wire/lifetime.js';

/** What an operator did or tried in the console: never a key or what a body held beside the fields here. */
export interface OperatorAction {
  action: 'signed-in' | 'refused' | 'warm' | 'stop' | 'reload' | 'create-key' | 'revoke-key' | 'limit-key';
  /** Where it was asked from; behind a proxy the proxy's. */
  address: string;
  /** The status of the answer; absent where the operator left before it. */
  status?: number;
  model?: string;
  /** Id of a key. */
  key?: string;
  name?: string;
  limits?: string;
}

export type RecordAction = (action: OperatorAction) => void;

/** Adds to the record of a request what is known only once its body was read. */
type Facts = Pick<OperatorAction, 'key' | 'name' | 'limits' | 'model'>;

const facts = new WeakMap<Response, Facts>();

export function addFacts(response: Response, added: Facts): void {
  facts.set(response, { ...facts.get(response), ...added });
}

/** Records a request when its answer has ended, or when the operator has left. */
export function recorded(
  record: RecordAction,
  action: OperatorAction['action'],
  known: (params: Request['params']) => Facts = () => ({}),
): RequestHandler {
  return (request, response, next) => {
    const address = addressOf(request);
    const given = known(request.params);
    releaseOnClose(response, () =>
      record({
        ...{ action, address, ...given, ...facts.get(response) },
        ...(response.headersSent && { status: response.statusCode }),
      }),
    );
    next();
  };
}

/** Read before anything is waited for: a connection that has ended knows it no more. */
export function addressOf({ socket }: Request): string {
  return socket.remoteAddress ?? 'unknown';
}
