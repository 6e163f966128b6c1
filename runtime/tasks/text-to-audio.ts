import { soundTask } from './made-sound.js';

export default soundTask(
  { title: 'Text to audio', summary: 'Makes the sound that a text describes.' },
  'waves against a quay',
);
