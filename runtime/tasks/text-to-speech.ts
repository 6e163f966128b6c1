import { audioTask } from './made-audio.js';

export default audioTask(
  { title: 'Text to speech', summary: 'Speaks a text.' },
  'The harbour is quiet this morning.',
);
