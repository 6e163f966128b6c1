import { expect, test } from '@jest/globals';
import chat from '../../runtime/tasks/chat.js';
import { readBody } from '../../runtime/tasks/body.js';

const messages = [{ role: 'user', content: 'What is the weather?' }];
const tool = (name?: string) => ({ type: 'function', function: { name, parameters: {} } });
const read = (params: Record<string, unknown>) => () => readBody('chat', chat, { messages, params });

test('tools that can’t be called are refused by name, but only where calls are told apart', () => {
  expect(read({ tools: [tool()] })).not.toThrow();
  expect(read({ tools: [tool()], parse_response: true })).toThrow(
    'params.tools.0: needs a function with a name',
  );
  expect(read({ tools: [tool('a'), tool('a')], parse_response: true })).toThrow(
    'params.tools.1: the name a comes twice',
  );
});

test('a choice among tools that are not there is refused by name', () => {
  expect(read({ tool_choice: 'required' })).toThrow('params.tool_choice: needs tools');
  expect(read({ tools: [tool('a')], tool_choice: { name: 'b' } })).toThrow(
    'params.tool_choice.name: no tool is called b',
  );
  expect(read({ tools: [tool('a')], tool_choice: { name: 'a' } })).not.toThrow();
  expect(read({ tool_choice: 'auto' })).not.toThrow();
});
