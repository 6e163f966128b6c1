import type { Readable } from 'node:stream';
import type { IsolatedContainer, IsolatedOptions } from './isolated.js';

/**
 * What the builder needs of a Docker Engine. Every method throws BuilderError `docker` when no engine answers and
 * `failure` with the engine's own words when it refuses.
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
  /** Images that carry the label, or all; newest first. */
  listImages(label?: string): Promise<ImageSummary[]>;
  /** Adds a second name to an image. */
  tagImage(reference: string, target: string): Promise<void>;
  /** Takes a name away, and with its last name the image. No error when there is none. */
  removeImage(reference: string): Promise<void>;
  /** The images as one tar, as `docker save` gives it. The stream fails with BuilderError. */
  saveImages(references: readonly string[]): Promise<Readable>;
  /**
   * Loads a tar of images. An error of the tar that is a BuilderError is thrown as it is.
   * @returns names of the loaded images, or ids where they have none
   */
  loadImages(tar: Readable, onLine: (line: string) => void): Promise<string[]>;
  /**
   * Hands a file or folder of an image to `use` as a tar, whose paths begin with its last component.
   * @returns undefined when the image has no such path
   */
  readImage<T>(
    at: { reference: string; path: string },
    use: (tar: Readable) => Promise<T>,
  ): Promise<T | undefined>;
  /** Creates and starts a container. */
  startContainer(options: ContainerOptions): Promise<RunningContainer>;
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
  /** True where the engine knows the NVIDIA runtime. */
  nvidia: boolean;
}

export interface ImageDetails {
  id: string;
  /** `name:tag`, all that it has. */
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
  /** All that its configuration says of how containers run, as the engine tells it. */
  settings: Record<string, unknown>;
}

export interface ImageSummary extends Pick<ImageDetails, 'id' | 'references' | 'labels' | 'size'> {
  /** Seconds since 1970. */
  created: number;
}

export interface HistoryEntry {
  createdBy: string;
  /** Bytes that the step has added. */
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
  name?: string;
  env: Record<string, string>;
  /** Host port to the container's port 80; 0 lets the engine choose. */
  hostPort: number;
  /** Address of the host to bind, e.g. 127.0.0.1. */
  hostAddress: string;
  /** Read-only bind mounts: host path to container path. */
  mounts: Record<string, string>;
  /** Ask for all GPUs. */
  gpus: boolean;
  /** Remove the container when it ends. */
  autoRemove: boolean;
  /** Receives stdout and stderr from the first byte; without it the output is left to `docker logs`. */
  onOutput?: (text: string) => void;
}

export interface RunningContainer {
  id: string;
  /** The host port that leads to port 80 of the container. */
  port: number;
  /** @returns the exit status once the container has ended */
  wait(): Promise<number>;
  /** Stops listening for the end and the output; the container goes on, and `wait` rejects. */
  release(): void;
  /** SIGTERM, then SIGKILL after the given seconds. No error when it has ended already. */
  stop(graceSeconds: number): Promise<void>;
}
