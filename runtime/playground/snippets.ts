import type { Described, Json } from './api/describe.js';

type Body = Readonly<Record<string, Json>>;

/** Longer texts in Base64 are named, not shown: nobody reads an image. */
const MOST_SHOWN = 200;

interface Place {
  /** Address of the model, with a slash at its end. */
  base: string;
  /** The server wants a key. */
  hasKey: boolean;
}

/** The same call by other means. */
export function snippetsOf(
  described: Described,
  body: Body,
  { base, hasKey }: Place,
): Record<string, string> {
  const shown = shortened(body) as Body;
  const call = { url: new URL(described.run, base).href, hasKey };
  const openai = openaiSnippet(described, shown, base);
  return {
    curl: curl(shown, call),
    JavaScript: javascript(shown, call),
    Python: python(shown, call),
    ...(openai ? { 'OpenAI (Python)': openai } : {}),
  };
}

function shortened(value: Json): Json {
  if (typeof value === 'string')
    return value.startsWith('data:') && value.length > MOST_SHOWN ? 'BASE64 OF THE FILE' : value;
  if (Array.isArray(value)) return value.map(shortened);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shortened(item)]));
}

interface Target {
  url: string;
  hasKey: boolean;
}

function curl(body: Body, { url, hasKey }: Target): string {
  const key = hasKey ? ` \\\n  -H "Authorization: Key $KEY"` : '';
  const data = JSON.stringify(body).replaceAll("'", String.raw`'\''`);
  return `curl ${url}${key} \\\n  -H 'Content-Type: application/json' \\\n  -d '${data}'`;
}

function javascript(body: Body, { url, hasKey }: Target): string {
  const key = hasKey ? ', Authorization: `Key ${KEY}`' : '';
  return `const response = await fetch('${url}', {
  method: 'POST',
  headers: { 'Content-Type': 'application/json'${key} },
  body: JSON.stringify(${JSON.stringify(body, null, 2).replaceAll('\n', '\n  ')}),
});
const { error, output } = await response.json();`;
}

function python(body: Body, { url, hasKey }: Target): string {
  const key = hasKey ? ', headers={"Authorization": f"Key {KEY}"}' : '';
  return `import requests

answer = requests.post("${url}", json=${literal(body)}${key}).json()
print(answer["error"] or answer["output"])`;
}

/** A value as Python writes it. */
function literal(value: Json): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value === 'object')
    return `{${Object.entries(value)
      .map(([name, item]) => `${JSON.stringify(name)}: ${literal(item)}`)
      .join(', ')}}`;
  return JSON.stringify(value);
}

/** Params of /run by the names that OpenAI's interface has for them. */
const OPENAI_NAMES: Readonly<Record<string, string>> = {
  max_new_tokens: 'max_tokens',
  temperature: 'temperature',
  top_p: 'top_p',
  seed: 'seed',
  stop: 'stop',
  frequency_penalty: 'frequency_penalty',
  presence_penalty: 'presence_penalty',
};

/** Undefined where that interface can't say the same. */
function openaiSnippet({ paths, model }: Described, body: Body, base: string): string | undefined {
  const { messages, text, params = {}, ...others } = body;
  if (Object.keys(others).length > 0) return undefined;
  const renamed = Object.entries(params as Body).map(([name, value]) => [OPENAI_NAMES[name], value] as const);
  if (renamed.some(([name]) => name === undefined)) return undefined;
  const more = renamed.map(([name, value]) => `, ${name}=${literal(value)}`).join('');
  const client = `from openai import OpenAI\n\nclient = OpenAI(base_url="${base}v1", api_key="KEY")\n`;
  const plain = Array.isArray(messages) && messages.every(({ content }) => typeof content === 'string');
  if (plain && paths.includes('/v1/chat/completions'))
    return `${client}answer = client.chat.completions.create(model="${model}", messages=${literal(messages)}${more})
print(answer.choices[0].message.content)`;
  if (typeof text === 'string' && paths.includes('/v1/completions'))
    return `${client}answer = client.completions.create(model="${model}", prompt=${literal(text)}${more})
print(answer.choices[0].text)`;
  if (typeof text === 'string' && more === '' && paths.includes('/v1/embeddings'))
    return `${client}answer = client.embeddings.create(model="${model}", input=${literal(text)})
print(answer.data[0].embedding)`;
  return undefined;
}
