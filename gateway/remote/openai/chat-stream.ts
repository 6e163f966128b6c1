import * as z from 'zod';
import type { FinishReason } from '../../../runtime/core/usage.js';
import type { Delta } from '../../../runtime/core/delta.js';
import type { AnswerPiece } from '../../../runtime/dialects/host.js';
import type { ServerEvent } from '../events.js';
import { brokeOff, malformed } from '../faults.js';
import { chunksOf } from './chunks.js';
import { finishOf, usageField, usageOf } from './usage.js';

const callPiece = z.object({
  index: z.int().nullish(),
  id: z.string().nullish(),
  function: z.object({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
});

type CallPiece = z.output<typeof callPiece>;

const delta = z.object({
  content: z.string().nullish(),
  refusal: z.string().nullish(),
  reasoning_content: z.string().nullish(),
  reasoning: z.string().nullish(),
  tool_calls: z.array(callPiece).nullish(),
});

const chunk = z.object({
  choices: z.array(z.object({ delta: delta.nullish(), finish_reason: z.string().nullish() })).nullish(),
  usage: usageField,
});

/** The pieces of an answer to a conversation. */
export async function* chatPieces(
  modelId: string,
  events: AsyncIterable<ServerEvent>,
): AsyncGenerator<AnswerPiece> {
  const calls = numberCalls(modelId);
  let told: z.output<typeof usageField> = null;
  let finish: FinishReason | undefined;
  for await (const { choices, usage } of chunksOf(modelId, events, chunk)) {
    told = usage ?? told;
    const [choice] = choices ?? [];
    if (choice?.delta) yield* piecesOf(choice.delta, calls);
    if (choice?.finish_reason != null) finish = finishOf(modelId, choice.finish_reason, calls.count());
  }
  // An answer that is cut off looks like a short one.
  if (finish === undefined) throw brokeOff(modelId, '');
  yield { usage: usageOf(told, [finish]) };
}

function* piecesOf(
  { content, refusal, reasoning_content, reasoning, tool_calls }: z.output<typeof delta>,
  calls: ReturnType<typeof numberCalls>,
): Generator<Delta> {
  const thought = reasoning_content ?? reasoning;
  if (thought) yield { reasoning: thought };
  const text = content ?? refusal;
  if (text) yield { text };
  for (const piece of tool_calls ?? []) yield* calls.add(piece);
}

/** Counts calls from 0 as they come. Some servers give each call whole and all the same index, or none. */
function numberCalls(modelId: string) {
  /** Their index -> the newest call under it. */
  const known = new Map<number, { index: number; id: string }>();
  let count = 0;
  return {
    count: () => count,
    *add({ index, id, function: made }: CallPiece): Generator<Delta> {
      const place = index ?? 0;
      let call = known.get(place);
      const name = made?.name ?? '';
      if (name !== '' && (!call || (id != null && id !== '' && id !== call.id))) {
        call = { index: count++, id: id || `call_${count}` };
        known.set(place, call);
        yield { call: { ...call, name } };
      }
      if (!call) throw malformed(modelId, 'streams arguments without the name of a tool');
      if (made?.arguments) yield { call: { index: call.index, arguments: made.arguments } };
    },
  };
}
