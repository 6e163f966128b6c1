import { tokenizerClassOf } from '../../../runtime/hub-config/tokenizer-class.js';

test.each<[settings: Record<string, unknown> | undefined, config: Record<string, unknown>, name: string]>([
  [{ tokenizer_class: 'NllbTokenizerFast' }, { model_type: 'm2m_100' }, 'Nllb'],
  [{}, { model_type: 'llama', tokenizer_class: 'PreTrainedTokenizerFast' }, 'PreTrained'],
  [undefined, { model_type: 'mistral' }, 'Llama'],
  [{ tokenizer_class: null }, { model_type: 'switch_transformers' }, 'T5'],
  [{}, { model_type: 'constructor' }, ''],
  [{}, {}, ''],
])('%j beside %j: %s', (settings, config, name) => {
  expect(tokenizerClassOf(settings, config)).toBe(name);
});
