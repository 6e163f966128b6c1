import type { Readable } from 'node:stream';
import type { Device } from '../../runtime/core/spec.js';
import type { IsolatedContainer, IsolatedOptions } from './isolated.js';
import type { MadeContainers } from './made.js';

/**
 * What the builder needs of a Docker Engine. Every method throws BuilderError: `docker` when no engine answers, `failure`
 * with the engine's message when it refuses.
 */
export interface Docker {
  info(): Promise<EngineInfo>;
  /** @returns undefined when there is no such image */
  inspectImage(reference: string): Promise<ImageDetails | undefined>;
  /**
   * Builds from a tar stream with a Dockerfile at its root and tags the result. Works on the classic builder.
   * @param onLine receives the build's output line by line
   * @throws BuilderError with the failing step's message
   */
  buildImage(context: Readable, options: BuildOptions, onLine: (line: string) => void): Promise<void>;
  /** How the image was made, newest step first. */
  imageHistory(reference: string): Promise<HistoryEntry[]>;
  /** Images with the label, or all; newest first. */
  listImages(label?: string): Promise<ImageSummary[]>;
  /** Adds a second name to an image. */
  tagImage(reference: string, target: string): Promise<void>;
  /** Removes a name, and the image with its last name. No error if it does not exist. */
  removeImage(reference: string): Promise<void>;
  /** The images as one tar, as `docker save` writes it. The stream fails with BuilderError. */
  saveImages(references: readonly string[]): Promise<Readable>;
  /**
   * Loads a tar of images. A BuilderError of the tar stream is thrown unchanged.
   * @returns names of the loaded images, or ids if they have none
   */
  loadImages(tar: Readable, onLine: (line: string) => void): Promise<string[]>;
  /**
   * Calls `use` with a file or folder of an image as a tar, whose paths begin with its last component.
   * @returns undefined when the image has no such path
   */
  readImage<T>(
    at: { reference: string; path: string },
    use: (tar: Readable) => Promise<T>,
  ): Promise<T | undefined>;
  /** Creates and starts a container. */
  startContainer(options: ContainerOptions): Promise<RunningContainer>;
  /** Containers that `startContainer` and `startIsolated` have made, also for other processes. */
  made: MadeContainers;
  /** Creates and starts a container without a network; the caller removes it. */
  startIsolated(options: IsolatedOptions): Promise<IsolatedContainer>;
}

export interface EngineInfo {
  version: string;
  apiVersion: string;
  /** Storage driver, e.g. `overlay2`. */
  storage: string;
  /** As an image platform, e.g. `linux/amd64`. */
  platform: string;
  /** What images can compute on there: GPUs of NVIDIA through its toolkit, others through the kernel's files. */
  devices: readonly Device[];
}

export interface ImageDetails {
  id: string;
  /** All its names, as `name:tag`. */
  references: string[];
  labels: Record<string, string>;
  /** Bytes on disk, layers of the base included. */
  size: number;
  /** e.g. `linux/amd64`. */
  platform: string;
  /** Diff IDs: `sha256:` and the hash of each layer's uncompressed tar, lowest first. */
  layers: string[];
  /** `NAME=value`. */
  env: string[];
  entrypoint: string[];
  command: string[];
  /** How its containers run: the configuration as reported by the engine. */
  settings: Record<string, unknown>;
}

export interface ImageSummary extends Pick<ImageDetails, 'id' | 'references' | 'labels' | 'size'> {
  /** Seconds since 1970. */
  created: number;
}

export interface HistoryEntry {
  createdBy: string;
  /** Bytes added by the step. */
  size: number;
}

export interface BuildOptions {
  /** `name:tag`, one or more. */
  references: readonly string[];
  buildArgs?: Record<string, string>;
  /** e.g. `linux/arm64`; the engine's own platform when absent. */
  platform?: string;
}

export interface ContainerOptions {
  image: string;
  /** It ends with the command; `prune` removes it if that was killed. */
  temporary?: boolean;
  env: Record<string, string>;
  /** Host port to the container's port 80; 0 lets the engine choose. */
  hostPort: number;
  /** Address of the host to bind, e.g. 127.0.0.1. */
  hostAddress: string;
  /** Read-only bind mounts: host path to container path. */
  mounts: Record<string, string>;
  /** Of the image: the container is given all GPUs that it may need. */
  device: Device;
  /** Remove the container when it ends. */
  autoRemove: boolean;
  /** Receives stdout and stderr from the first byte; without it, `docker logs` has the output. */
  onOutput?: (text: string) => void;
}

export interface RunningContainer {
  id: string;
  /** The host port mapped to port 80 of the container. */
  port: number;
  /** Bytes that it takes now, without the page cache; undefined where the engine does not tell. */
  memory(): Promise<number | undefined>;
  /** @returns the exit status once the container has ended */
  wait(): Promise<number>;
  /** Stops listening to the container, which keeps running; `wait` rejects. */
  release(): void;
  /** SIGTERM, then SIGKILL after the given seconds. No error if it has ended already. */
  stop(graceSeconds: number): Promise<void>;
}
