import { readJsonBody } from '../../wire/json-body.js';
import type { Dialect, DialectCall, DialectRoute } from '../dialect.js';
import { sendPlainError } from '../plain-error.js';
import { hfBody, readHfJson } from './read.js';
import { predict, vertexBody } from './vertex.js';
import { answerInference, ping, runInference } from './run.js';

const TEXT_TASKS = [
  'text-generation',
  'text2text-generation',
  'summarization',
  'translation',
  'chat',
] as const;

/** POST /generate and /generate_stream: the body says nothing of streaming. */
function generate(stream: boolean): DialectRoute['handle'] {
  return async (call: DialectCall) => {
    const [model] = call.host.models();
    const { json } = await readJsonBody(call.request, call.response, call.host.bodyOptions(TEXT_TASKS));
    await answerInference(call, model!, { ...readHfJson(json), stream });
  };
}

/** The Inference API of Hugging Face, below the address of one model, and Text Generation Inference's routes. */
export const huggingFace: Dialect = {
  name: 'huggingface',
  title: 'Hugging Face',
  sendError: sendPlainError,
  /** Where an address is that of one model. */
  oneModel: true,
  routes: [
    {
      ...{ method: 'POST', path: '/', body: hfBody, handle: runInference },
      summary: 'Ask the model, with inputs and parameters or with a file as it is',
    },
    {
      ...{ method: 'POST', path: '/invocations', body: hfBody, handle: runInference },
      summary: 'The same, where SageMaker asks',
    },
    {
      ...{ method: 'POST', path: '/vertex', body: vertexBody, handle: predict },
      summary: 'Predictions for instances, where Vertex AI asks',
    },
    { method: 'GET', path: '/ping', summary: 'Ready to answer, for SageMaker', open: true, handle: ping },
    {
      ...{ method: 'POST', path: '/generate', tasks: TEXT_TASKS, body: hfBody, handle: generate(false) },
      summary: 'Continue a text',
    },
    {
      ...{
        method: 'POST',
        path: '/generate_stream',
        tasks: TEXT_TASKS,
        body: hfBody,
        handle: generate(true),
      },
      summary: 'Continue a text, as events',
    },
  ],
};
