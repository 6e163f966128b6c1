import * as z from 'zod';
import { demand, get, outputOf, post, postRaw, type ServerUnderTest, shown } from '../server.js';
import type { Answer } from '../transport.js';
import { jsonOf, type Recipe, sameAsRun, writtenText } from './recipe.js';

/** Base64 of a medium, without what says its type. */
const base64Of = (medium: unknown): string => String(medium).replace(/^data:[^,]*,/, '');

export const bytesOf = (medium: unknown): Buffer => Buffer.from(base64Of(medium), 'base64');

const BOUNDARY = 'slipway-conformance';

/** A form with a file, as clients of OpenAI send it. */
function form(fields: Readonly<Record<string, string>>, file: Buffer): Buffer {
  const named = Object.entries(fields).map(
    ([name, value]) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: application/octet-stream\r\n\r\n`;
  return Buffer.concat([Buffer.from(named.join('') + head), file, Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]);
}

/** An audio clip that is written down, as it is or in English. */
export function transcription(params: Record<string, unknown>): Recipe {
  return (server, path) => {
    const { base64 } = server.golden;
    const body = form({ model: server.described.model }, bytesOf(base64));
    return sameAsRun(server, {
      run: { base64, params },
      ask: () => postRaw(server, body, { path, type: `multipart/form-data; boundary=${BOUNDARY}` }),
      found: (answer) => z.object({ text: z.string() }).parse(jsonOf(answer)).text,
      wanted: (output) => writtenText(output).trim(),
    });
  };
}

export const speech: Recipe = (server, path) => {
  const { text } = server.golden;
  return sameAsRun(server, {
    run: { text, params: { format: 'wav' } },
    ask: () => post(server, { model: server.described.model, input: text, response_format: 'wav' }, { path }),
    found: ({ bytes }) => bytes.toString('base64'),
    wanted: base64Of,
  });
};

export const images: Recipe = (server, path) => {
  const { text, params = {} } = server.golden as { text: string; params?: Record<string, unknown> };
  const { width, height, num_inference_steps, guidance_scale } = params;
  const known = Object.fromEntries(
    Object.entries({ num_inference_steps, guidance_scale }).filter(([, value]) => value != null),
  );
  const size = width == null || height == null ? {} : { size: `${Number(width)}x${Number(height)}` };
  const body = { model: server.described.model, prompt: text, seed: 0, ...size, ...known };
  const run = { text, params: { seed: 0, ...(size.size === undefined ? {} : { width, height }), ...known } };
  return sameAsRun(server, {
    ...{ run, wanted: base64Of },
    ask: () => post(server, body, { path }),
    found: (answer) => IMAGES.parse(jsonOf(answer)).data[0]!.b64_json,
  });
};

const IMAGES = z.object({ data: z.array(z.object({ b64_json: z.string().min(1) })).length(1) });

export const voices: Recipe = async (server, path) => {
  const names = await ownVoices(server);
  const query = `?model=${encodeURIComponent(server.described.model)}`;
  const { voices: told } = z
    .object({ voices: z.array(z.object({ id: z.string() })) })
    .parse(jsonOf(await get(server, path + query)));
  const ids = told.map(({ id }) => id);
  demand(ids.join('\n') === names.join('\n'), `other voices than those of POST /run: ${ids.join(', ')}`);
  return `${ids.length} voices`;
};

async function ownVoices(server: ServerUnderTest): Promise<readonly string[]> {
  const answer: Answer = await post(server, { voices: true });
  demand(answer.status === 200 || answer.status === 400, `expected voices: ${shown(answer)}`);
  if (answer.status === 400) return [];
  return z.object({ voices: z.array(z.string()).default([]) }).parse(outputOf(answer)).voices;
}
