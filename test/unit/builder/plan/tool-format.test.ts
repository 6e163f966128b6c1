import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { planModel } from '../../../../builder/plan/index.js';
import { folderSource } from '../../../../runtime/store/folder.js';
import { folderWith } from '../../store/folders.js';

const CHAT = 'test/fixtures/zoo/chat/llama-chat/repo';
const CLASSIFIER = 'test/fixtures/zoo/text-classification/distilbert/repo';

test("how a model writes calls: by the chat template, or the repository's own word", async () => {
  const chat = (config: object) => {
    const dir = folderWith();
    cpSync(CHAT, dir, { recursive: true });
    cpSync('test/fixtures/tool-templates/hermes.jinja', join(dir, 'chat_template.jinja'));
    writeFileSync(join(dir, 'tokenizer_config.json'), JSON.stringify(config));
    return planModel({ source: folderSource(dir), id: 'local/chat', task: 'chat' });
  };
  const probed = await chat({});
  expect(probed.tools).toMatchObject({ format: 'json', known_by: 'probe' });
  expect(probed.reasons).toContain(
    'tools: calls are read as json behind <tool_call>, by what the chat template writes',
  );
  const calls = { open: '[[', close: ']]', content: 'json', transform: { function: '{content}' } };
  const own = await chat({ response_template: { start_anchor: 'x', fields: { tool_calls: calls } } });
  expect(own.reasons).toContain(
    'tools: calls are read as json behind [[, by response_template of the repository',
  );
  const unclear = await chat({
    response_template: { fields: { tool_calls: { ...calls, content: 'kv-lines' } } },
  });
  expect(unclear.tools).toMatchObject({
    known_by: 'probe',
    note: expect.stringContaining('response_template'),
  });
  const classifier = await planModel({ source: folderSource(CLASSIFIER), id: 'local/classifier' });
  expect(classifier.tools).toBeUndefined();
});
