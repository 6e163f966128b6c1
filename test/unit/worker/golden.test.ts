import { taskOf } from '../../../runtime/tasks/registry.js';
import { goldenInput } from '../../../runtime/worker/golden.js';

const paramsOf = (task: Parameters<typeof taskOf>[0], engine: 'generation' | 'transformers') =>
  (goldenInput(taskOf(task), { engine }) as unknown as { params?: Record<string, unknown> }).params;

test('generates two tokens, also where the task streams nothing', () => {
  expect(paramsOf('text-generation', 'generation')).toMatchObject({ max_new_tokens: 2 });
  expect(paramsOf('image-to-text', 'generation')).toMatchObject({ max_new_tokens: 2 });
  expect(paramsOf('automatic-speech-recognition', 'generation')).toMatchObject({ max_new_tokens: 2 });
});

test('asks no length of models that generate none, or whose task takes none', () => {
  expect(paramsOf('automatic-speech-recognition', 'transformers')).not.toHaveProperty('max_new_tokens');
  expect(paramsOf('visual-question-answering', 'generation')).not.toHaveProperty('max_new_tokens');
});

test('few frames are read of a video', () => {
  expect(paramsOf('video-text-to-text', 'generation')).toMatchObject({ max_new_tokens: 2, num_frames: 4 });
  expect(paramsOf('image-text-to-text', 'generation')).not.toHaveProperty('num_frames');
});

test('takes the model’s own example', () => {
  const example = { text: 'own', params: { top_k: 3 } };
  const input = goldenInput(taskOf('text-classification'), { engine: 'transformers', example });
  expect(input).toMatchObject(example);
});
