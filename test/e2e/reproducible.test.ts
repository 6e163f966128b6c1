import { setTimeout as delay } from 'node:timers/promises';
import { stampedBase } from './support/base.js';
import { describeWithDocker } from './support/engine.js';
import { docker } from './support/process.js';
import { openWorkshop } from './support/workshop.js';

interface Built {
  layers: string[];
  labels: Record<string, string>;
}

/** Builds from nothing, in a folder of its own, and removes all of it. */
async function buildOnce(): Promise<Built> {
  const workshop = await openWorkshop({ ownCommits: false });
  try {
    const base = await stampedBase(workshop.namespace);
    const { id } = workshop.hub.models.image.about;
    const image = await workshop.build(id, '--bake', '--base-image', base);
    const [details] = JSON.parse(await docker('inspect', image)) as [
      { RootFS: { Layers: string[] }; Config: { Labels: Record<string, string> } },
    ];
    return { layers: details.RootFS.Layers, labels: details.Config.Labels };
  } finally {
    await workshop.close();
  }
}

describeWithDocker('builds of the same inputs, in two folders, at two times', () => {
  test('give the same layers and the same labels', async () => {
    const first = await buildOnce();
    // Time stamps of layers have whole seconds.
    await delay(1100);
    const second = await buildOnce();
    // One of the base at least, packages, server, weights, model.json.
    expect(first.layers.length).toBeGreaterThanOrEqual(5);
    expect(second.layers).toEqual(first.layers);
    // The stamp is the base's; what names it differs with it.
    const { stamp, ['io.slipway.build']: _, ...labels } = first.labels;
    expect(stamp).toBeDefined();
    expect(second.labels).toMatchObject(labels);
  });
});
