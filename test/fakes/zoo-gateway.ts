import { createServer } from 'node:http';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { fixtureSpec, serveInline } from '../parity/load.js';
import { type ZooModel, zooModel, zooNames } from '../parity/zoo.js';
import { closeServers, gateway, type GivenGateway, started } from './gateway.js';

/** A reference model of each task, by its folder among the fixtures. */
const NAMES: Partial<Record<TaskId, string>> = {
  chat: 'llama-chat',
  'feature-extraction': 'bert-mean',
  'fill-mask': 'bert',
  'image-classification': 'vit-tiny',
  'question-answering': 'bert-qa',
  'sentence-similarity': 'sbert-mean',
  summarization: 't5-summary',
  'text-classification': 'distilbert',
  'text-generation': 'llama',
  'text2text-generation': 't5',
  'token-classification': 'bert-ner',
  translation: 'marian',
  'zero-shot-classification': 'distilbert-mnli',
};

export interface ZooGateway {
  /** Below it lie the models: `zoo/<task>`. */
  base: string;
  models: Map<TaskId, ZooModel>;
  close(): Promise<void>;
}

/** A gateway before real servers of reference models: all in this process, all reached over HTTP. */
export async function zooGateway(
  tasks: readonly TaskId[],
  parts: NonNullable<GivenGateway['parts']> = {},
): Promise<ZooGateway> {
  const stops: (() => void)[] = [];
  const close = async () => {
    await closeServers();
    for (const stop of stops) stop();
  };
  const models = new Map<TaskId, ZooModel>();
  const entries = [];
  try {
    for (const task of tasks) {
      const model = await zooModel(task, NAMES[task] ?? (await zooNames(task))[0]!);
      models.set(task, model);
      const modelId = `zoo/${task}`;
      const served = await serveInline(fixtureSpec(task, modelId, model.repo), model.repo);
      stops.push(() => served.stop());
      entries.push({ modelId, task, addresses: [await started(createServer(served.app))] });
    }
    return { base: await gateway({ models: entries, parts }), models, close };
  } catch (error) {
    // Open servers would keep the tests from ending.
    await close();
    throw error;
  }
}
