import { audioTask } from './made-audio.js';

export default audioTask(
  { title: 'Text to audio', summary: 'Makes the audio that a text describes.' },
  'waves against a quay',
);
