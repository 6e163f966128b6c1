import { rm } from 'node:fs/promises';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { plannedModel, serveInline } from './load.js';
import { zooModel } from './zoo.js';

/** Contract: truncation: false refuses what is too long, where Python fails; without it long texts are cut. */
const MODELS: [TaskId, string, (text: string) => string, object][] = [
  ['text-classification', 'distilbert', (text) => text, { truncation: false }],
  ['text-classification', 'distilbert', (text) => text, { truncation: false, text_pair: 'second' }],
  ['fill-mask', 'bert', (text) => `[MASK] ${text}`, { tokenizer_kwargs: { truncation: false } }],
];

test.each(MODELS)('%s of %s', async (task, name, textOf, params) => {
  const { about, repo } = await zooModel(task, name);
  const { spec, dir } = await plannedModel(task, about.id, repo);
  const served = await serveInline(spec, dir);
  try {
    const [short, long] = [textOf('a text'), textOf('word '.repeat(20_000))];
    const asked = { ...params };
    expect((await served.run({ text: short, params: asked })).status).toBe(200);
    expect(await served.run({ text: long, params: asked })).toEqual({
      status: 422,
      body: { error: expect.stringMatching(/longer than the model takes, \d+ tokens/), output: null },
    });
    expect((await served.run({ text: long })).status).toBe(200);
  } finally {
    served.stop();
    await rm(dir, { recursive: true });
  }
});
