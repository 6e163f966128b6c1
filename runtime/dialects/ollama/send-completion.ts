import { sendJson } from '../../wire/respond.js';
import { answerAll, askModel, setModelHeaders } from '../ask.js';
import type { DialectCall } from '../dialect.js';
import type { ServedModel } from '../host.js';
import { linesOf, type Sending, sendLines } from './send.js';

interface Continuing {
  model: ServedModel;
  /** The text to continue. */
  text: string;
  params: Record<string, unknown>;
}

/** Sends the continuation of a text by a model without a chat template. */
export async function sendCompletion(
  call: DialectCall,
  { model, text, params }: Continuing,
  sending: Sending,
): Promise<void> {
  const { host, response } = call;
  const bodies = [{ text, params: { ...params, return_full_text: false } }];
  const asking = { model, bodies, names: { text: 'prompt', max_new_tokens: 'options.num_predict' } };
  const { line, times } = linesOf(model, sending);
  if (!sending.stream)
    return answerAll(call, asking, ([answer]) => {
      const end = times.end(answer!.usage);
      sendJson(response, 200, JSON.stringify(line({ text: answer!.output as string }, end)));
    });
  await askModel(host, response, asking, async (asked) => {
    const pieces = await asked.stream(bodies[0]!);
    setModelHeaders(response, asked);
    await sendLines(call, pieces, { line, times });
  });
}
