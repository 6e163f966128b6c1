import { type Hub, type HubModel, startHub } from '../../fakes/hub.js';
import { type ZooModel, zooModel } from '../../parity/zoo.js';

export interface ZooHub extends Hub {
  /** Flags of `docker run` with which a container finds this hub. */
  flags: string[];
  models: Record<'text' | 'image' | 'stream' | 'half', ZooModel>;
  /** Requests for bytes of files. */
  downloads(): number;
}

/** What a repository may claim: it must reach labels as it is, and nothing else. */
export const HOSTILE_LICENSE = 'x" \\ $(id) ${PATH} \'; RUN touch /pwned #';

/** What travels with the weights of the model that reads texts. */
export const NOTICES = { 'LICENSE.txt': 'May be used by anyone.\n', 'README.md': '# A model\n' };

/** A hub with one model that reads texts, one that reads pictures, one that streams and one of half precision. */
export async function startZooHub(): Promise<ZooHub> {
  const models = {
    text: await zooModel('text-classification', 'distilbert'),
    image: await zooModel('image-classification', 'vit-tiny'),
    stream: await zooModel('text-generation', 'llama'),
    half: await zooModel('text-generation', 'olmo-half', 'zoo-own'),
  };
  const listed = Object.values(models).map(({ about, repo }): [string, HubModel] => {
    const { id, pipeline_tag, library_name } = about;
    const license = about === models.image.about ? HOSTILE_LICENSE : 'apache-2.0';
    const more = about === models.text.about ? { added: NOTICES, revisions: ['v2'] } : {};
    const tags = [...about.tags, `license:${license}`];
    return [id, { dir: repo, pipeline_tag, library_name, tags, ...more }];
  });
  const hub = await startHub({ models: Object.fromEntries(listed), host: '0.0.0.0' });
  return {
    ...hub,
    models,
    flags: ['--add-host', 'hub.test:host-gateway', '--env', `HF_ENDPOINT=http://hub.test:${hub.port}`],
    downloads: () => hub.requests.filter(({ path }) => path.includes('/resolve/')).length,
  };
}
