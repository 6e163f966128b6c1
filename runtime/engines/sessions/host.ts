import type { InferenceSession } from 'onnxruntime-node';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { alignPrepacked } from '../../onnx/align-prepacked.js';
import type { GraphSource } from './graph-source.js';
import { openSession, type SessionOptions } from './session.js';
import { type Port, type Tensors, toOrtTensor } from './tensors.js';

export interface OpenedSession {
  /** Names the session in later calls. */
  key: number;
  inputs: Port[];
  outputs: Port[];
}

/**
 * Owns sessions. A run blocks the thread that the host lives on, so hosts on threads of their own run side by side;
 * calls to one host are answered in order.
 */
export interface SessionHost {
  open(graph: GraphSource, options: SessionOptions): Promise<OpenedSession>;
  run(key: number, feeds: Tensors): Promise<Tensors>;
  /** Releases a session that has no run under way, and gets none any more. */
  close(key: number): Promise<void>;
  /**
   * Writes a graph as ONNX Runtime computes it on this machine (optimised, weights in the layout of its kernels) to
   * `dir`. Sessions opened from there map the weights instead of each keeping a copy.
   * @returns path of the graph
   */
  writeOptimized(graph: GraphSource, dir: string): Promise<string>;
}

/** Caches that a decoder gives to go on with: nobody does here, and they are as large as the text is long. */
const CACHE = /^present\./;

/** Sessions on this thread. */
export function localHost(): SessionHost {
  const sessions = new Map<number, { session: InferenceSession; wanted: string[] }>();
  let nextKey = 0;
  return {
    async open(graph, options) {
      const session = await openSession(graph, options);
      const outputs = portsOf(session.outputMetadata).filter(({ name }) => !CACHE.test(name));
      const key = nextKey++;
      sessions.set(key, { session, wanted: outputs.map(({ name }) => name) });
      return { key, inputs: portsOf(session.inputMetadata), outputs };
    },
    async run(key, feeds) {
      const tensors = Object.entries(feeds).map(([name, tensor]) => [name, toOrtTensor(tensor)] as const);
      const { session, wanted } = sessions.get(key)!;
      const outputs = await session.run(Object.fromEntries(tensors), wanted);
      return Object.fromEntries(
        Object.entries(outputs).map(([name, { type, data, dims }]) => [name, { type, data, dims }]),
      );
    },
    async close(key) {
      const { session } = sessions.get(key)!;
      sessions.delete(key);
      await session.release();
    },
    async writeOptimized(graph, dir) {
      mkdirSync(dir, { recursive: true });
      const target = join(dir, 'model.onnx');
      const session = await openSession(graph, {
        device: 'cpu',
        threads: 1,
        arena: false,
        optimizedTo: target,
      });
      await session.release();
      alignPrepacked(dir);
      return target;
    },
  };
}

function portsOf(metadata: InferenceSession['inputMetadata']): Port[] {
  return metadata.map((entry) => ({
    name: entry.name,
    type: entry.isTensor ? entry.type : 'none',
    shape: entry.isTensor ? entry.shape : [],
  }));
}
