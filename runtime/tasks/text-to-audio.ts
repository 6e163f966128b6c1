import { defineTask } from './define.js';
import { soundEngines, soundInput, soundOutput } from './made-sound.js';

export default defineTask({
  title: 'Text to audio',
  summary: 'Makes the sound that a text describes.',
  modality: 'text',
  makes: 'audio',
  streams: false,
  profile: 'text',
  input: soundInput,
  output: soundOutput,
  example: { text: 'waves against a quay' },
  engines: soundEngines,
});
