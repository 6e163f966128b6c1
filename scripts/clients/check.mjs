/**
 * Calls of the published JavaScript clients against running models.
 * Usage: check.mjs '{"models": {task: address}, "key": key, "picture": file, "sound": file}'
 * Prints one line of JSON for each call: client, call, and the error where it failed.
 */
import { readFileSync } from 'node:fs';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import { InferenceClient } from '@huggingface/inference';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { embedMany, generateObject, generateText, jsonSchema, streamText, tool } from 'ai';
import { Ollama } from 'ollama';
import OpenAI, { toFile } from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';

const { models, key: apiKey, picture, sound } = JSON.parse(process.argv[2]);
const at = models;
const image = new Blob([readFileSync(picture)], { type: 'image/png' });
const voice = new Blob([readFileSync(sound)], { type: 'audio/wav' });
const hello = [{ role: 'user', content: 'hi' }];
const weather = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};

/** Small, so that any model ends it. */
const Forecast = z.object({ city: z.enum(['Oslo', 'Rome']), sunny: z.boolean() });

const openai = (task) => new OpenAI({ apiKey, baseURL: `${at[task]}/v1`, maxRetries: 0 });
const hf = (task) => new InferenceClient(apiKey).endpoint(at[task]);
const compatible = (task) => createOpenAICompatible({ name: 'slipway', apiKey, baseURL: `${at[task]}/v1` });
const lang = new ChatOpenAI({
  ...{ apiKey, model: 'm', maxTokens: 3, maxRetries: 0 },
  configuration: { baseURL: `${at.chat}/v1` },
});
const llama = () => new Ollama({ host: at.chat, headers: { authorization: `Bearer ${apiKey}` } });
const claude = new Anthropic({ apiKey, baseURL: at.chat, maxRetries: 0 });
const chat = { model: 'm', messages: hello, max_completion_tokens: 3 };
const count = async (items) => {
  let seen = 0;
  for await (const _ of items) seen++;
  if (seen === 0) throw new Error('nothing came');
};

const CASES = {
  'openai (JavaScript)': {
    'chat.completions': () => openai('chat').chat.completions.create(chat),
    'chat.completions, stream helper': () =>
      openai('chat').chat.completions.stream(chat).finalChatCompletion(),
    'chat.completions, tools': () =>
      openai('chat').chat.completions.create({
        ...chat,
        tools: [{ type: 'function', function: { name: 'weather', parameters: weather } }],
      }),
    'chat.completions, response_format': () =>
      openai('chat').chat.completions.create({
        ...chat,
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'weather', schema: weather, strict: true },
        },
      }),
    'chat.completions.parse': async () => {
      const format = zodResponseFormat(Forecast, 'forecast');
      const asked = { ...chat, max_completion_tokens: 80, response_format: format };
      Forecast.parse((await openai('chat').chat.completions.parse(asked)).choices[0].message.parsed);
    },
    responses: () => openai('chat').responses.create({ model: 'm', input: 'hi', max_output_tokens: 3 }),
    'responses, stream helper': () =>
      openai('chat').responses.stream({ model: 'm', input: 'hi', max_output_tokens: 3 }).finalResponse(),
    embeddings: () => openai('sentence-similarity').embeddings.create({ model: 'm', input: ['a', 'b'] }),
    'audio.transcriptions': async () =>
      openai('automatic-speech-recognition').audio.transcriptions.create({
        ...{ model: 'm', file: await toFile(readFileSync(sound), 'a.wav') },
      }),
    'audio.speech': () =>
      openai('text-to-speech').audio.speech.create({
        ...{ model: 'm', voice: 'alloy', input: 'hello', response_format: 'opus' },
      }),
    'images.generate': () => openai('text-to-image').images.generate({ model: 'm', prompt: 'a' }),
    moderations: async () => {
      const asked = { model: 'm', input: ['a', 'b'], flags: { anger: 0 } };
      return (await openai('text-classification').moderations.create(asked)).results[1].flagged;
    },
  },
  '@huggingface/inference': {
    chatCompletion: () => hf('chat').chatCompletion({ messages: hello, max_tokens: 3 }),
    chatCompletionStream: () => count(hf('chat').chatCompletionStream({ messages: hello, max_tokens: 3 })),
    textGeneration: () =>
      hf('text-generation').textGeneration({ inputs: 'a', parameters: { max_new_tokens: 3 } }),
    textGenerationStream: () =>
      count(hf('text-generation').textGenerationStream({ inputs: 'a', parameters: { max_new_tokens: 3 } })),
    summarization: () => hf('summarization').summarization({ inputs: 'a long text' }),
    translation: () => hf('translation').translation({ inputs: 'hello' }),
    fillMask: () => hf('fill-mask').fillMask({ inputs: 'The [MASK] is red' }),
    textClassification: () => hf('text-classification').textClassification({ inputs: 'good' }),
    tokenClassification: () => hf('token-classification').tokenClassification({ inputs: 'Maria lives' }),
    featureExtraction: () => hf('feature-extraction').featureExtraction({ inputs: 'a' }),
    sentenceSimilarity: () =>
      hf('sentence-similarity').sentenceSimilarity({ inputs: { source_sentence: 'a', sentences: ['b'] } }),
    zeroShotClassification: () =>
      hf('zero-shot-classification').zeroShotClassification({
        ...{ inputs: 'a', parameters: { candidate_labels: ['x', 'y'] } },
      }),
    questionAnswering: () =>
      hf('question-answering').questionAnswering({ inputs: { question: 'Who?', context: 'Maria lives' } }),
    imageClassification: () => hf('image-classification').imageClassification({ data: image }),
    imageSegmentation: () => hf('image-segmentation').imageSegmentation({ inputs: image }),
    imageToText: () => hf('image-to-text').imageToText({ data: image }),
    objectDetection: () => hf('object-detection').objectDetection({ inputs: image }),
    visualQuestionAnswering: () =>
      hf('visual-question-answering').visualQuestionAnswering({ inputs: { question: 'what?', image } }),
    documentQuestionAnswering: () =>
      hf('document-question-answering').documentQuestionAnswering({ inputs: { question: 'what?', image } }),
    zeroShotImageClassification: () =>
      hf('zero-shot-image-classification').zeroShotImageClassification({
        ...{ inputs: { image }, parameters: { candidate_labels: ['a', 'b'] } },
      }),
    textToImage: () => hf('text-to-image').textToImage({ inputs: 'a' }),
    audioClassification: () => hf('audio-classification').audioClassification({ data: voice }),
    automaticSpeechRecognition: () =>
      hf('automatic-speech-recognition').automaticSpeechRecognition({ data: voice }),
    textToSpeech: () => hf('text-to-speech').textToSpeech({ inputs: 'hello' }),
  },
  'AI SDK': {
    'openai-compatible, generateText': () =>
      generateText({ model: compatible('chat')('m'), prompt: 'hi', maxOutputTokens: 3, maxRetries: 0 }),
    'openai-compatible, streamText': () =>
      count(streamText({ model: compatible('chat')('m'), prompt: 'hi', maxOutputTokens: 3 }).textStream),
    'openai-compatible, tools': () =>
      generateText({
        ...{ model: compatible('chat')('m'), prompt: 'hi', maxOutputTokens: 3, maxRetries: 0 },
        tools: { weather: tool({ inputSchema: jsonSchema(weather) }) },
      }),
    'openai-compatible, tool that is required': async () => {
      const { toolCalls } = await generateText({
        ...{ model: compatible('chat')('m'), prompt: 'hi', maxOutputTokens: 120, maxRetries: 0 },
        ...{ tools: { forecast: tool({ inputSchema: Forecast }) }, toolChoice: 'required' },
      });
      Forecast.parse(toolCalls[0].input);
    },
    'openai-compatible, generateObject': () =>
      generateObject({
        model: createOpenAICompatible({
          ...{ name: 'slipway', apiKey, baseURL: `${at.chat}/v1`, supportsStructuredOutputs: true },
        })('m'),
        ...{ schema: Forecast, prompt: 'hi', maxOutputTokens: 80, maxRetries: 0 },
      }),
    'openai-compatible, embedMany': () =>
      embedMany({ model: compatible('sentence-similarity').textEmbeddingModel('m'), values: ['a', 'b'] }),
    'openai (Responses), generateText': () =>
      generateText({
        model: createOpenAI({ apiKey, baseURL: `${at.chat}/v1` })('m'),
        ...{ prompt: 'hi', maxOutputTokens: 16, maxRetries: 0 },
      }),
  },
  'LangChain (JavaScript)': {
    invoke: () => lang.invoke('hi'),
    stream: async () => count(await lang.stream('hi')),
    'withStructuredOutput, jsonSchema': async () => {
      const roomy = new ChatOpenAI({
        ...{ apiKey, model: 'm', maxTokens: 80, maxRetries: 0 },
        configuration: { baseURL: `${at.chat}/v1` },
      });
      Forecast.parse(await roomy.withStructuredOutput(Forecast, { method: 'jsonSchema' }).invoke('hi'));
    },
    bindTools: () =>
      lang.bindTools([{ type: 'function', function: { name: 'weather', parameters: weather } }]).invoke('hi'),
    OpenAIEmbeddings: () =>
      new OpenAIEmbeddings({
        ...{ apiKey, model: 'm' },
        configuration: { baseURL: `${at['sentence-similarity']}/v1` },
      }).embedQuery('a'),
  },
  'anthropic (JavaScript)': {
    messages: () => claude.messages.create({ model: 'm', max_tokens: 3, messages: hello }),
    'messages, stream': () =>
      claude.messages.stream({ model: 'm', max_tokens: 3, messages: hello }).finalMessage(),
  },
  'mcp (JavaScript)': {
    'listTools, callTool': async () => {
      const client = new Client({ name: 'check', version: '1' });
      const requestInit = { headers: { authorization: `Bearer ${apiKey}` } };
      const at = new URL(`${models['text-to-image']}/mcp`);
      await client.connect(new StreamableHTTPClientTransport(at, { requestInit }));
      const { tools } = await client.listTools();
      const { content } = await client.callTool({ name: tools[0].name, arguments: { text: 'a' } });
      if (content[0].type !== 'image') throw new Error(`no image: ${content[0].type}`);
      await client.close();
    },
  },
  'ollama (JavaScript)': {
    chat: () => llama().chat({ model: 'm', messages: hello, options: { num_predict: 3 } }),
    list: () => llama().list(),
  },
};

for (const [client, calls] of Object.entries(CASES)) {
  for (const [call, run] of Object.entries(calls)) {
    let error = null;
    try {
      await run();
    } catch (thrown) {
      error = `${thrown.name}: ${thrown.message}`.split('\n')[0].slice(0, 300);
    }
    console.log(JSON.stringify({ client, call, error }));
  }
}
