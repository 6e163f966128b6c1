import { RunError } from '../../../core/errors.js';
import { sendJson } from '../../../wire/respond.js';
import { answerAll } from '../../ask.js';
import type { DialectCall } from '../../dialect.js';
import type { AskedModel, DialectHost, ServedModel } from '../../host.js';
import { requireModel } from '../../require-model.js';

export const VOICE_TASKS = ['text-to-speech', 'text-to-audio'] as const;

/** The body of POST /run that asks for names of voices. */
const ASK = { voices: true };

/** Those of models that were asked, so that nobody waits for them twice. */
const known = new WeakMap<ServedModel, readonly string[]>();

/** Names of a model's voices, by their numbers; none of a server that was built before voices had names. */
export async function voicesOf(model: ServedModel, asked: AskedModel): Promise<readonly string[]> {
  const found = known.get(model) ?? (await askVoices(asked));
  known.set(model, found);
  return found;
}

async function askVoices(asked: AskedModel): Promise<readonly string[]> {
  try {
    const { output } = await asked.ask(ASK, asked.signal);
    return namesIn(output);
  } catch (error) {
    if (error instanceof RunError && error.status === 400) return [];
    throw error;
  }
}

const namesIn = (output: unknown): readonly string[] =>
  (output as { voices?: readonly string[] } | undefined)?.voices ?? [];

/** GET v1/audio/voices, as Open WebUI reads it; `?model=` where there are several models. */
export async function listVoices(call: DialectCall): Promise<void> {
  const { host, request, response } = call;
  const { model: name } = request.query;
  const model = speakerOf(host, typeof name === 'string' ? name : undefined);
  await answerAll(call, { model, bodies: [ASK], names: {} }, ([answer]) => {
    const voices = namesIn(answer!.output).map((voice) => ({ id: voice, name: voice }));
    sendJson(response, 200, JSON.stringify({ voices }));
  });
}

/** The model that is named, or the only one that speaks. @throws RunError as `requireModel` */
function speakerOf(host: DialectHost, name: string | undefined): ServedModel {
  const [only, other] = speakers(host);
  const isOnly = name === undefined && only !== undefined && other === undefined;
  return isOnly ? only : requireModel(host, name, VOICE_TASKS);
}

const speakers = (host: DialectHost): ServedModel[] =>
  host.models().filter(({ task }) => (VOICE_TASKS as readonly string[]).includes(task));

/** GET v1/audio/models, as Open WebUI reads it. */
export function listSpeakers({ host, response }: DialectCall): void {
  sendJson(
    response,
    200,
    JSON.stringify({ models: speakers(host).map(({ modelId: id }) => ({ id, name: id })) }),
  );
}
