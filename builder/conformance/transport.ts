/** One HTTP request to the server under test. */
export interface Call {
  method: string;
  /** Path below the server's address. */
  path: string;
  headers?: Readonly<Record<string, string>>;
  body?: Buffer;
}

export interface Answer {
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  bytes: Buffer;
}

/** How a server is reached: by its address, or from inside its container. */
export interface Transport {
  /** @throws BuilderError `failure` when nothing answers */
  send(call: Call): Promise<Answer>;
}

/** A model may take long for one answer. */
export const CALL_TIMEOUT_MS = 600_000;
