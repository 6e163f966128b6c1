import { defineTask } from './define.js';
import { soundEngines, soundInput, soundOutput } from './made-sound.js';

export default defineTask({
  title: 'Text to speech',
  summary: 'Speaks a text.',
  modality: 'text',
  makes: 'audio',
  streams: false,
  profile: 'text',
  input: soundInput,
  output: soundOutput,
  example: { text: 'The harbour is quiet this morning.' },
  engines: soundEngines,
});
