import * as z from 'zod';
import type { FinishReason } from '../../../runtime/core/usage.js';
import { RunError } from '../../../runtime/core/errors.js';
import type { AnswerPiece } from '../../../runtime/dialects/host.js';
import { textAnswer } from '../../../runtime/tasks/generated.js';
import type { ServerEvent } from '../events.js';
import { brokeOff } from '../faults.js';
import type { RemoteCall, Translate } from '../kind.js';
import { readChoices } from './choices.js';
import { chunksOf } from './chunks.js';
import { textFields } from './params.js';
import { finishOf, usageField, usageOf } from './usage.js';

const choice = z.object({ text: z.string(), finish_reason: z.string().nullish() });

const answer = z.object({ choices: z.array(choice).min(1), usage: usageField });

const chunk = z.object({ choices: z.array(choice).nullish(), usage: usageField });

/** Params of conversations and vectors, which go on a text can't have. */
const OTHERS = [
  ...['tools', 'tool_choice', 'parallel_tool_calls', 'reasoning_effort', 'enable_thinking', 'logprobs'],
  ...['chat_template_kwargs', 'documents'],
];

/** Asks completions. */
export const translateCompletion: Translate = (call) => {
  const { modelId, input, params } = call;
  const stranger = OTHERS.find((name) => name in params);
  if (stranger !== undefined)
    throw new RunError('invalid_input', `params.${stranger}: can't be given to ${modelId}; leave it out`);
  const { prefix = '' } = params as { prefix?: string };
  return {
    path: '/completions',
    body: { prompt: prefix + (input['text'] as string), ...textFields(call) },
    read: call.stream ? undefined : (json) => readAnswer(call, json),
    stream: {
      pieces: (events) => completionPieces(modelId, events),
      output: ({ text }) => textAnswer([{ text }], echoOf(call)),
    },
  };
};

const echoOf = ({ input, params }: RemoteCall): string =>
  params['return_full_text'] === false ? '' : (input['text'] as string);

function readAnswer(call: RemoteCall, json: unknown) {
  const { modelId } = call;
  const { choices, usage } = readChoices(call, answer, json);
  const finish = choices.map(({ finish_reason }) => finishOf(modelId, finish_reason));
  return { output: textAnswer(choices, echoOf(call)), usage: usageOf(usage, finish) };
}

async function* completionPieces(
  modelId: string,
  events: AsyncIterable<ServerEvent>,
): AsyncGenerator<AnswerPiece> {
  let told: z.output<typeof usageField> = null;
  let finish: FinishReason | undefined;
  for await (const { choices, usage } of chunksOf(modelId, events, chunk)) {
    told = usage ?? told;
    const [first] = choices ?? [];
    if (first && first.text !== '') yield { text: first.text };
    if (first?.finish_reason != null) finish = finishOf(modelId, first.finish_reason);
  }
  if (finish === undefined) throw brokeOff(modelId, '');
  yield { usage: usageOf(told, [finish]) };
}
