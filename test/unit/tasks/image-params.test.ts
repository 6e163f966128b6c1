import type { TaskId } from '../../../runtime/core/task-ids.js';
import { readBody } from '../../../runtime/tasks/body.js';
import { taskOf } from '../../../runtime/tasks/registry.js';

const read = (id: TaskId, body: object) =>
  readBody(id, taskOf(id), { ...taskOf(id).example, params: {}, ...body }).input;

const WRITERS = ['image-to-text', 'image-text-to-text', 'automatic-speech-recognition'] as const;

describe.each(WRITERS)('generate_kwargs of %s', (id) => {
  test('stand for the parameters themselves', () => {
    const params = { do_sample: false, generate_kwargs: { num_beams: 2, max_new_tokens: 3 } };
    expect(read(id, { params })['params']).toEqual({ do_sample: false, num_beams: 2, max_new_tokens: 3 });
    expect(read(id, { params: { num_beams: 2, generate_kwargs: null } })['params']).toEqual({
      num_beams: 2,
    });
  });

  test.each([
    [{ num_beams: 2, generate_kwargs: { num_beams: 2 } }, 'params.num_beams: is in params.generate_kwargs'],
    [{ generate_kwargs: { no_such: 1 } }, `params.no_such: unknown parameter for ${id}`],
    [{ generate_kwargs: { generate_kwargs: {} } }, 'params.generate_kwargs: is in params.generate_kwargs'],
    [{ generate_kwargs: 'fast' }, 'params.generate_kwargs'],
    [{ generate_kwargs: [1] }, 'params.generate_kwargs'],
    [{ generate_kwargs: { num_beams: 'two' } }, 'params.num_beams'],
  ])('%j is refused by name', (params, message) => {
    expect(() => read(id, { params })).toThrow(message);
  });
});

test('labels of detectors in one string keep their blanks, as in Python', () => {
  const detection = read('zero-shot-object-detection', { candidate_labels: 'cat, remote control,,dog' });
  expect(detection['candidate_labels']).toEqual(['cat', ' remote control', '', 'dog']);
  const classes = read('zero-shot-image-classification', { candidate_labels: 'cat, remote control,,dog' });
  expect(classes['candidate_labels']).toEqual(['cat', 'remote control', 'dog']);
});

test.each([
  [{}, false],
  [{ truncation: false, padding: 'max_length' }, false],
  [{ truncation: true }, true],
  [{ truncation: 'longest_first' }, true],
])('questions about images with %j are cut: %j', (params, truncation) => {
  expect(read('visual-question-answering', { params })['params']).toMatchObject({ truncation });
});
