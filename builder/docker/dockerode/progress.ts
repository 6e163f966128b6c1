import type Dockerode from 'dockerode';
import { BuilderError } from '../../exit.js';

export interface ProgressSource {
  client: Dockerode;
  /** Response of a build or load: one JSON document per line. */
  stream: NodeJS.ReadableStream;
  /** Name of the operation for errors, e.g. `docker build`. */
  what: string;
  onLine: (line: string) => void;
}

/** Reads progress lines to the end. @throws BuilderError with the message of a line that reports a failure */
export function followProgress({ client, stream, what, onLine }: ProgressSource): Promise<void> {
  return new Promise((resolve, reject) => {
    client.modem.followProgress(
      stream,
      (error) => (error ? reject(error) : resolve()),
      progressLines({ what, onLine, fail: reject }),
    );
  });
}

interface ProgressEvent {
  stream?: string;
  status?: string;
  id?: string;
  errorDetail?: { message?: string };
  error?: string;
}

interface Lines extends Pick<ProgressSource, 'what' | 'onLine'> {
  fail: (error: Error) => void;
}

/** Parses lines; a failure is reported by a line, while the stream itself ends normally. */
function progressLines({ what, onLine, fail }: Lines) {
  return (event: ProgressEvent): void => {
    const error = event.errorDetail?.message ?? event.error;
    if (error) fail(new BuilderError('failure', `${what} failed: ${error.trim()}`));
    for (const line of (event.stream ?? event.status ?? '').split('\n'))
      if (line.trim()) onLine(line.trimEnd());
  };
}
