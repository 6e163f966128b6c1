/** Express and transformers.js as tutorials put them together: one pipeline, one route, no options. */
import { basename, dirname } from 'node:path';
import { env, pipeline, TextStreamer } from '@huggingface/transformers';
import express from 'express';

const { TASK, MODEL, DTYPE = 'fp32', PORT } = process.env;
env.allowRemoteModels = false;
env.localModelPath = dirname(MODEL);
const pipe = await pipeline(TASK, basename(MODEL), { dtype: DTYPE });

const answers = {
  'feature-extraction': async ({ text }) => {
    const output = await pipe(text, { pooling: 'mean', normalize: true });
    return output.tolist()[0];
  },
  'text-classification': ({ text }) => pipe(text),
  'image-classification': ({ base64 }) => pipe(new Blob([Buffer.from(base64, 'base64')])),
  'text-generation': async ({ text, max_new_tokens }, response) => {
    const streamer = new TextStreamer(pipe.tokenizer, {
      skip_prompt: true,
      callback_function: (piece) => response.write(piece),
    });
    await pipe(text, { max_new_tokens, streamer });
  },
  'automatic-speech-recognition': ({ base64, max_new_tokens }) =>
    pipe(samplesOf(Buffer.from(base64, 'base64')), { max_new_tokens }),
  summarization: ({ text, max_new_tokens }) => pipe(text, { max_new_tokens }),
};

/** Of a plain WAV file with 16 bits a sample, at the model's rate: cheaper than what tutorials do with a library. */
function samplesOf(file) {
  const values = new Int16Array(file.buffer.slice(file.byteOffset + 44, file.byteOffset + file.length));
  return Float32Array.from(values, (value) => value / 32768);
}

const app = express();
app.use(express.json({ limit: '10mb' }));
app.post('/run', async (request, response) => {
  const answer = await answers[TASK](request.body, response);
  if (answer === undefined) response.end();
  else response.json(answer);
});
app.listen(Number(PORT), '127.0.0.1');
