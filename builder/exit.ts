/** Exit codes of the command line; `builder --help` lists them. */
export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  /** The model can't be served, or the image is of the wrong kind. */
  refused: 3,
  /** No Docker Engine answers. */
  docker: 4,
  /** Hub, network or download. */
  network: 5,
  interrupted: 130,
} as const;

export type ExitName = keyof typeof EXIT;

/** Ends the program with a one-line message that says what to do, without a stack trace. */
export class BuilderError extends Error {
  override name = 'BuilderError';

  constructor(
    readonly exit: ExitName,
    message: string,
    options: { cause?: unknown } = {},
  ) {
    super(message, options);
  }
}

export const EXIT_HELP = `
Exit codes:
  0    done
  1    failed
  2    wrong usage
  3    the model can't be served, or the image is not sealed; the reason is on stderr
  4    no Docker Engine answers
  5    the hub, the network or a download failed
  130  interrupted`;
