import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ChatTemplate,
  createChatTemplate,
} from '../../../../runtime/engines/chat-templates/chat-template.js';
import { probeTemplate, type TemplateFacts } from '../../../../runtime/engines/tool-calls/probe/probe.js';

const DIR = 'test/fixtures/tool-templates';

export const TEMPLATES = readdirSync(DIR).filter((name) => name.endsWith('.jinja'));

export function loadTemplate(file: string): { template: ChatTemplate; facts: TemplateFacts } {
  const source = readFileSync(join(DIR, file), 'utf8');
  const template = createChatTemplate({
    templates: { default: source },
    tokenizerConfig: { bos_token: '<s>', eos_token: '</s>' },
  })!;
  const facts = probeTemplate({
    source: template.sources,
    render: (messages, variables, asks) =>
      template.render(messages as never, { variables, continues: false, asks }),
  });
  return { template, facts };
}

/** The family whose models' answers these templates belong to. */
export const FAMILY_OF: Record<string, string> = {
  'hermes.jinja': 'Hermes, Qwen',
  'qwen3-coder.jinja': 'Qwen3-Coder',
  'llama-3.1.jinja': 'Llama 3.1',
  'olmo-3.jinja': 'pythonic in lines (Olmo 3)',
  'mistral-nemo.jinja': 'Mistral Nemo',
  'mistral-small-3.2.jinja': 'Mistral Small 3.2',
  'functionary-3.1.jinja': 'Functionary 3.1',
  'functionary-3.2.jinja': 'Functionary 3.2',
  'deepseek-v3.jinja': 'DeepSeek V3',
  'deepseek-v3.1.jinja': 'DeepSeek V3.1',
  'granite.jinja': 'Granite 3',
  'phi-4-mini.jinja': 'Phi-4-mini',
  'command-r7b.jinja': 'Command R7B',
  'command-r-plus.jinja': 'Command R+',
  'glm-4.5.jinja': 'GLM 4.5',
  'kimi-k2.jinja': 'Kimi K2',
  'function-gemma.jinja': 'FunctionGemma',
  'gpt-oss.jinja': 'harmony',
  'plain.jinja': 'generic',
};
