import { chooseEngine } from '../../../../builder/plan/choose-engine.js';
import { Refusal } from '../../../../builder/plan/refusal.js';
import type { AnyTask } from '../../../../runtime/tasks/define.js';
import { taskOf } from '../../../../runtime/tasks/registry.js';

/** Two engines serve it, the first one types that declare its head only. */
const task = taskOf('automatic-speech-recognition');

test('the first engine that serves the type of the model is taken', () => {
  expect(chooseEngine(task, 'whisper').engine).toBe('generation');
  expect(chooseEngine(task, 'wav2vec2').engine).toBe('transformers');
});

test('types that only exports are served of declare heads, too', () => {
  expect(chooseEngine(task, 'speech-encoder-decoder').engine).toBe('generation');
  expect(chooseEngine(taskOf('document-question-answering'), 'layoutlmv3').engine).toBe('transformers');
  expect(chooseEngine(taskOf('visual-question-answering'), 'blip').engine).toBe('generation');
});

test('a model that names no type gets an engine that serves every type', () => {
  expect(chooseEngine(task, undefined).engine).toBe('transformers');
});

test('a type that no engine serves is refused, with those that are', () => {
  const only = { ...task, engines: { generation: task.engines.generation } } as AnyTask;
  expect(() => chooseEngine(only, 'resnet')).toThrow(Refusal);
  expect(() => chooseEngine(only, 'resnet')).toThrow(
    'Speech recognition is not served for models of type resnet; served types: canary, cohere_asr, moonshine, moonshine_streaming, speech-encoder-decoder, speech_to_text, speecht5, whisper',
  );
  expect(() => chooseEngine(only, undefined)).toThrow('of type unknown');
});
