import { RunError } from '../core/errors.js';

/** Statuses whose messages begin with the name of the invalid field. */
const FIELD_STATUSES: ReadonlySet<number> = new Set([400, 404, 422]);

/** The name of a field at the beginning of a message, in params or not. */
const FIELD = /^(?:params\.)?(\w+(?:\.\w+)*): /;

/** Names of fields in bodies of POST /run -> those that the caller has sent. */
export type FieldNames = Readonly<Record<string, string>>;

/** The field that an error is about, and the rest of the message. */
export function fieldOf({ status, message }: RunError): { field: string; rest: string } | undefined {
  const match = FIELD_STATUSES.has(status) ? FIELD.exec(message) : null;
  return match ? { field: match[1]!, rest: message.slice(match[0].length) } : undefined;
}

/** The error of a task about a field, with the name that the caller has sent. */
export function inCallersWords(thrown: unknown, names: FieldNames): unknown {
  if (!(thrown instanceof RunError)) return thrown;
  const found = fieldOf(thrown);
  const name = found && Object.hasOwn(names, found.field) ? names[found.field] : undefined;
  if (name === undefined) return thrown;
  return new RunError(thrown.code, `${name}: ${found!.rest}`, { cause: thrown.cause });
}
