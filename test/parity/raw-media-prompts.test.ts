import { afterAll, describe, expect, it } from '@jest/globals';
import { rm } from 'node:fs/promises';
import { loadProcessorTemplate } from '../../runtime/engines/chat-templates/chat-template.js';
import { asTemplateReads } from '../../runtime/engines/generation/prompts/media/conversation.js';
import { tokenText } from '../../runtime/engines/tokenizers/tokenizer-json.js';
import { loadTokenizer } from '../../runtime/engines/tokenizers/tokenizer.js';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { plannedModel, serveInline } from './load.js';
import { FIXTURES } from './zoo.js';

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((dir) => rm(dir, { recursive: true }))));

async function served(place: string) {
  const [, task] = place.split('/') as [string, TaskId];
  const { spec, dir } = await plannedModel(task, `test/${task}`, `${FIXTURES}/${place}/repo`);
  folders.push(dir);
  return { dir, model: await serveInline(spec, dir) };
}

const question = [{ role: 'user', content: 'How many ships are there?' }];

/** What the template makes of the question, and whether a start token belongs before it. */
async function renderedBy(dir: string): Promise<{ text: string; add_special_tokens: boolean }> {
  const { config } = await loadTokenizer(dir);
  const template = (await loadProcessorTemplate(dir, config))!;
  const messages = asTemplateReads(question, template.source, {});
  const text = template.render(messages, { variables: {}, continues: false });
  const bos = tokenText(config['bos_token']);
  return { text, add_special_tokens: bos === '' || !text.startsWith(bos) };
}

describe.each([
  'zoo/image-text-to-text/llava-tiny',
  'zoo/image-text-to-text/qwen2vl-tiny',
  'zoo-own/image-text-to-text/smolvlm',
  'zoo-own/image-text-to-text/gemma3',
  'zoo-own/video-text-to-text/qwen2_5_vl_video',
  'zoo-own/audio-text-to-text/ultravox',
  'zoo-v5/image-text-to-text/qwen3_5-vl',
])('%s without its template', (place) => {
  it('continues what the template would have written as the conversation itself', async () => {
    const { dir, model } = await served(place);
    try {
      const { text, add_special_tokens } = await renderedBy(dir);
      const greedy = { max_new_tokens: 8, do_sample: false };
      const raw = { ...greedy, apply_chat_template: false };
      const ask = (content: string, params: object) =>
        model.run({ messages: [{ role: 'user', content }], params });
      const [chat, continued] = [
        await model.run({ messages: question, params: greedy }),
        await ask(text, { ...raw, add_special_tokens }),
      ];
      expect(chat.status).toBe(200);
      expect(continued).toEqual(chat);
      const other = await ask('The harbour', raw);
      expect(other).toMatchObject({ status: 200, body: { output: { role: 'assistant' } } });
      expect(other.body.output).not.toEqual(chat.body.output);
      const twice = await ask('The harbour', { ...raw, continue_final_message: true });
      const { content } = other.body.output as { content: string };
      expect(twice.body.output).toEqual({ role: 'assistant', content: `The harbour${content}` });
    } finally {
      model.stop();
    }
  });
});

it('refuses the place of a medium, tokens, an image, and a model that needs one', async () => {
  const { model } = await served('zoo/image-text-to-text/llava-tiny');
  const params = { apply_chat_template: false };
  const ask = (content: unknown, more: object = {}) =>
    model.run({ messages: [{ role: 'user', content }], params: { ...params, ...more } });
  try {
    expect(await ask('USER: <image> What?')).toMatchObject({
      status: 422,
      body: { error: expect.stringContaining('has 0 images, and places for 1') },
    });
    expect(await ask([{ type: 'text', text: 'x' }])).toMatchObject({ status: 400 });
    expect(await ask('x', { parse_response: true })).toMatchObject({ status: 400 });
  } finally {
    model.stop();
  }
  const florence = await served('zoo/image-text-to-text/florence2-tiny');
  const refused = await florence.model.run({ messages: question, params });
  florence.model.stop();
  expect(refused).toMatchObject({
    status: 422,
    body: { error: 'params.apply_chat_template: this model continues no text without a medium' },
  });
});
