import { requireFiles } from '../../../../builder/plan/requirements.js';
import { goldenRequest } from '../../../../builder/seal/golden.js';
import { taskOf } from '../../../../runtime/tasks/registry.js';
import { chooseFiles } from '../../../../runtime/store/choose-files.js';
import type { ModelInfo } from '../../../../runtime/core/spec.js';

const task = taskOf('text-to-speech');
const binding = task.engines.speech!;

const facts = { hasTimmSettings: false };

const info = (...paths: string[]) =>
  ({ id: 'a/b', files: paths.map((path) => ({ path, size: 1 })) }) as unknown as ModelInfo;

const graphsOf = (...names: string[]) => {
  const { graphs, otherGraphs, files } = binding;
  const wanted = { info: info(...names.map((name) => `onnx/${name}.onnx`)), graphs, otherGraphs };
  return Object.keys(chooseFiles({ ...wanted, extra: files }).graphs);
};

test('each family of models that make audio has graphs of its own', () => {
  expect(graphsOf('model')).toEqual(['model']);
  const speecht5 = ['encoder_model', 'decoder_model_merged', 'decoder_postnet_and_vocoder'];
  expect(graphsOf('encoder_model', 'decoder_model_merged', 'decoder_postnet_and_vocoder')).toEqual(speecht5);
  const musicgen = ['text_encoder', 'decoder_model', 'decoder_with_past_model', 'encodec_decode'];
  expect(graphsOf(...musicgen, 'encodec_encode', 'build_delay_pattern_mask')).toEqual(musicgen);
});

test('a vocabulary of letters will do in the place of tokenizer.json', () => {
  expect(() => requireFiles(info('vocab.json'), task, binding, facts)).not.toThrow();
  expect(() => requireFiles(info('spm_char.model'), task, binding, facts)).toThrow('no tokenizer.json');
  const text = taskOf('text-classification');
  expect(() => requireFiles(info('vocab.json'), text, text.engines.transformers!, facts)).toThrow(
    'no tokenizer.json',
  );
});

test('sealing asks for what the model has in its example, and no more', () => {
  const example = { text: 'a', params: { maxlenratio: 1 } };
  expect(goldenRequest('text-to-speech', example)).toEqual(example);
});
