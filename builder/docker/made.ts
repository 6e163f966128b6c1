/** Label of containers that builder has started; its value is the container's name. */
export const MADE_LABEL = 'io.slipway.made';

/** Label of those among them that end with the command; a killed builder leaves them behind. */
export const TEMPORARY_LABEL = 'io.slipway.temporary';

/** A container that builder has started, in any state. */
export interface MadeContainer {
  id: string;
  name: string;
  /** As it was given when the container was made. */
  image: string;
  imageId: string;
  labels: Record<string, string>;
  /** As the engine calls it: running, exited, created, … */
  state: string;
  /** Seconds since 1970. */
  created: number;
}

export interface LogOptions {
  /** Go on with what the container writes until it ends. */
  follow: boolean;
  /** Last lines only. */
  tail: number | undefined;
  signal: AbortSignal;
  onOutput(text: string): void;
}

/** Containers that builder has started. Those of other programs, of people and of gateways are not among them. */
export interface MadeContainers {
  list(): Promise<MadeContainer[]>;
  /** Its stdout and stderr, as far as the engine keeps them. */
  logs(id: string, options: LogOptions): Promise<void>;
  /** SIGTERM, then SIGKILL after the given seconds. No error if it has ended already. */
  stop(id: string, graceSeconds: number): Promise<void>;
  /** With its anonymous volumes. No error if it does not exist. @throws BuilderError `failure` while it runs */
  remove(id: string): Promise<void>;
  /** Ids of the images of all containers of the engine, whoever made them. */
  imagesInUse(): Promise<ReadonlySet<string>>;
}

/** Name and labels for a new container. */
export function madeBy(name: string, temporary: boolean): { name: string; labels: Record<string, string> } {
  return { name, labels: { [MADE_LABEL]: name, ...(temporary ? { [TEMPORARY_LABEL]: 'true' } : {}) } };
}

/**
 * Whether builder has started it. A container of an image that was committed from one of builder's has its label, too,
 * but not its name.
 */
export function isMade({ name, labels }: Pick<MadeContainer, 'name' | 'labels'>): boolean {
  return name !== '' && labels[MADE_LABEL] === name;
}
