import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ModelInfo } from '../../../runtime/core/spec.js';
import { hubSource } from '../../../runtime/store/hub.js';
import { ensureWeights, type Weights, type WeightsOptions } from '../../../runtime/store/weights.js';
import { type Hub, startHub } from '../../fakes/hub.js';
import { folderWith, modelFiles } from './folders.js';

export const GRAPH = 'onnx/model.onnx';

/** A model on a hub, an empty folder to fetch it into, and the lines of the log; new for each test. */
export interface Workbench {
  hub: Hub;
  info: ModelInfo;
  /** Folder that the hub serves. */
  dir: string;
  root: string;
  lines: string[];
  files: Record<string, string | Uint8Array>;
  graphBytes: Buffer;
  ensure(options?: Partial<WeightsOptions>): Promise<Weights>;
  /** Folder that downloads go to, and the graph in it. */
  target(): string;
  graphPath(): string;
  /** Range headers of the requests for the graph. */
  ranges(): (string | undefined)[];
  expectComplete(): void;
}

/** Call at the top of a test file: sets up and tears down around every test. */
export function useWorkbench(): Workbench {
  const files = modelFiles();
  const dir = folderWith(files);
  const bench = { files, dir, graphBytes: Buffer.from(files[GRAPH] as Uint8Array) } as Workbench;
  beforeEach(async () => {
    bench.hub = await startHub({ models: { 'org/name': dir } });
    bench.info = await hubSource({ endpoint: bench.hub.url }).info('org/name');
    bench.hub.requests.length = 0;
    bench.root = folderWith();
    bench.lines = [];
  });
  afterEach(() => bench.hub.close());
  bench.ensure = (options = {}) =>
    ensureWeights({
      spec: bench.info,
      roots: [bench.root],
      downloadRoot: bench.root,
      source: () => hubSource({ endpoint: bench.hub.url, stallMs: 300 }),
      log: (line) => void bench.lines.push(line),
      tuning: { backoffMs: 1 },
      ...options,
    });
  bench.target = () => join(bench.root, 'org', 'name', bench.info.commit);
  bench.graphPath = () => join(bench.target(), GRAPH);
  bench.ranges = () => {
    const asked = bench.hub.requests.filter(({ path }) => path.includes(GRAPH));
    return asked.map(({ headers }) => headers.range);
  };
  bench.expectComplete = () => {
    for (const [path, content] of Object.entries(files)) {
      expect(readFileSync(join(bench.target(), path)).equals(Buffer.from(content as string))).toBe(true);
    }
  };
  return bench;
}

export function noSource(): never {
  throw new Error('asked for a source');
}
