import * as z from 'zod';
import type { Delta } from '../../../runtime/core/delta.js';
import type { FinishReason, Usage } from '../../../runtime/core/usage.js';
import type { AnswerPiece } from '../../../runtime/dialects/host.js';
import type { ServerEvent } from '../events.js';
import { brokeOff, filtered, malformed } from '../faults.js';
import { parseAnswer } from '../read-json.js';
import { errorIn } from '../refusals.js';

const count = z.int().min(0).nullish();

const usage = z.object({
  input_tokens: count,
  output_tokens: count,
  cache_creation_input_tokens: count,
  cache_read_input_tokens: count,
});

type Told = z.output<typeof usage>;

const index = z.int().min(0);

const known = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message_start'), message: z.object({ usage: usage.nullish() }) }),
  z.object({
    type: z.literal('content_block_start'),
    index,
    content_block: z.object({
      type: z.string(),
      id: z.string().optional(),
      name: z.string().optional(),
      text: z.string().optional(),
      input: z.unknown().optional(),
    }),
  }),
  z.object({
    type: z.literal('content_block_delta'),
    index,
    delta: z.object({
      type: z.string(),
      text: z.string().optional(),
      thinking: z.string().optional(),
      partial_json: z.string().optional(),
    }),
  }),
  z.object({ type: z.literal('content_block_stop'), index }),
  z.object({
    type: z.literal('message_delta'),
    delta: z.object({ stop_reason: z.string().nullish(), stop_sequence: z.string().nullish() }),
    usage: usage.nullish(),
  }),
  z.object({ type: z.literal('message_stop') }),
  z.object({ type: z.literal('error'), error: z.unknown().optional() }),
]);

type Known = z.output<typeof known>;

const NAMES: ReadonlySet<string> = new Set(known.options.flatMap(({ shape }) => [...shape.type.values]));

/** The events of a stream that matter; others may be added to the interface at any time. */
async function* eventsOf(modelId: string, events: AsyncIterable<ServerEvent>): AsyncGenerator<Known> {
  for await (const { data } of events) {
    const json = parseAnswer(data, modelId);
    const { type } = (json ?? {}) as { type?: unknown };
    if (typeof type !== 'string')
      throw malformed(modelId, 'streams something else than Anthropic’s interface has');
    if (!NAMES.has(type)) continue;
    const parsed = known.safeParse(json);
    if (!parsed.success) throw malformed(modelId, 'streams something else than Anthropic’s interface has');
    yield parsed.data;
  }
}

/** The pieces of an answer. @param stop the stop strings that were asked for */
export async function* messagePieces(
  modelId: string,
  events: AsyncIterable<ServerEvent>,
  stop: readonly string[],
): AsyncGenerator<AnswerPiece, void> {
  const blocks = readBlocks();
  let told: Told = {};
  let end: { reason: string; sequence: string | null } | undefined;
  for await (const event of eventsOf(modelId, events)) {
    if (event.type === 'error') throw brokeOff(modelId, errorIn({ error: event.error }).message);
    if (event.type === 'message_stop') break;
    if (event.type === 'message_start') told = { ...told, ...event.message.usage };
    else if (event.type === 'message_delta') {
      told = { ...told, ...dropNull(event.usage ?? {}) };
      const { stop_reason: reason, stop_sequence: sequence = null } = event.delta;
      if (reason != null) end = { reason, sequence };
    } else yield* blocks.read(event);
  }
  // An answer that is cut off looks like a short one.
  if (end === undefined) throw brokeOff(modelId, '');
  if (end.reason === 'refusal') throw filtered(modelId);
  yield { usage: usageOf(told, end, stop) };
}

const dropNull = (told: Told): Told =>
  Object.fromEntries(Object.entries(told).filter(([, value]) => value != null));

const FINISH: Readonly<Record<string, FinishReason>> = {
  ...{ max_tokens: 'length', model_context_window_exceeded: 'length', tool_use: 'tool_calls' },
};

/** Undefined if the provider does not tell it. */
function usageOf(
  told: Told,
  { reason, sequence }: { reason: string; sequence: string | null },
  stop: readonly string[],
): Usage | undefined {
  if (told.input_tokens == null) return undefined;
  const by = sequence === null ? -1 : stop.indexOf(sequence);
  const cached = (told.cache_creation_input_tokens ?? 0) + (told.cache_read_input_tokens ?? 0);
  return {
    tokensIn: told.input_tokens + cached,
    ...(told.output_tokens == null ? {} : { tokensOut: told.output_tokens }),
    finish: [FINISH[reason] ?? 'stop'],
    ...(by < 0 ? {} : { stops: [by] }),
  };
}

type BlockEvent = Extract<Known, { index: number }>;

/** Reads blocks of content; calls are counted from 0. */
function readBlocks() {
  /** Their index -> the call, and whether arguments have come. */
  const calls = new Map<number, { index: number; given: unknown; isBegun: boolean }>();
  return {
    *read(event: BlockEvent): Generator<Delta> {
      if (event.type === 'content_block_start') yield* begin(event);
      else if (event.type === 'content_block_delta') yield* grow(event);
      else yield* end(event.index);
    },
  };

  function* begin({
    index,
    content_block: { type, id, name, text, input },
  }: Extract<BlockEvent, { type: 'content_block_start' }>): Generator<Delta> {
    if (type === 'text' && text) yield { text };
    if (type !== 'tool_use' || name === undefined) return;
    const call = { index: calls.size, given: input, isBegun: false };
    calls.set(index, call);
    yield { call: { index: call.index, id: id ?? `call_${call.index}`, name } };
  }

  function* grow({ index, delta }: Extract<BlockEvent, { type: 'content_block_delta' }>): Generator<Delta> {
    const call = calls.get(index);
    if (delta.type === 'text_delta' && delta.text) yield { text: delta.text };
    else if (delta.type === 'thinking_delta' && delta.thinking) yield { reasoning: delta.thinking };
    else if (delta.type === 'input_json_delta' && delta.partial_json && call) {
      call.isBegun = true;
      yield { call: { index: call.index, arguments: delta.partial_json } };
    }
  }

  /** Calls without arguments have none in their deltas; some servers give all of them at the beginning. */
  function* end(index: number): Generator<Delta> {
    const call = calls.get(index);
    if (call && !call.isBegun)
      yield { call: { index: call.index, arguments: JSON.stringify(call.given ?? {}) } };
  }
}
