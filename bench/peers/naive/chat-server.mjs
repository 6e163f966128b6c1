/** Express and transformers.js as tutorials put them together for a chat about an image: one model, one route. */
import { basename, dirname } from 'node:path';
import {
  AutoModelForVision2Seq,
  AutoProcessor,
  env,
  RawImage,
  TextStreamer,
} from '@huggingface/transformers';
import express from 'express';

const { MODEL, DTYPE = 'fp32', PORT } = process.env;
env.allowRemoteModels = false;
env.localModelPath = dirname(MODEL);
const processor = await AutoProcessor.from_pretrained(basename(MODEL));
const model = await AutoModelForVision2Seq.from_pretrained(basename(MODEL), { dtype: DTYPE });

const app = express();
app.use(express.json({ limit: '10mb' }));
app.post('/run', async (request, response) => {
  const { base64, text, max_new_tokens } = request.body;
  const messages = [{ role: 'user', content: [{ type: 'image' }, { type: 'text', text }] }];
  const prompt = processor.apply_chat_template(messages, { add_generation_prompt: true });
  const image = await RawImage.fromBlob(new Blob([Buffer.from(base64, 'base64')]));
  const inputs = await processor(prompt, [image]);
  const streamer = new TextStreamer(processor.tokenizer, {
    ...{ skip_prompt: true, skip_special_tokens: true },
    callback_function: (piece) => response.write(piece),
  });
  await model.generate({ ...inputs, do_sample: false, max_new_tokens, streamer });
  response.end();
});
app.listen(Number(PORT), '127.0.0.1');
