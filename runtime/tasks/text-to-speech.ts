import { soundTask } from './made-sound.js';

export default soundTask(
  { title: 'Text to speech', summary: 'Speaks a text.' },
  'The harbour is quiet this morning.',
);
