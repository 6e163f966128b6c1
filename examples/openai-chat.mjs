// A chat by OpenAI's own client: whole, streamed, and as JSON that follows a schema.
// Usage: KEY=... node examples/openai-chat.mjs http://localhost:8080
import OpenAI from 'openai';

const [url = 'http://localhost:8080'] = process.argv.slice(2);
const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: process.env['KEY'] || 'none' });
// A container has one model, whatever it is called; a gateway wants its id.
const [model] = (await client.models.list()).data.map(({ id }) => id);
const messages = [{ role: 'user', content: 'What is the capital of Norway?' }];

const answer = await client.chat.completions.create({ model, messages, max_tokens: 20 });
console.log(
  `answer: ${JSON.stringify(answer.choices[0].message.content)}, ${answer.usage.total_tokens} tokens`,
);

const stream = await client.chat.completions.create({ model, messages, max_tokens: 20, stream: true });
process.stdout.write('streamed:');
for await (const { choices } of stream) process.stdout.write(JSON.stringify(choices[0]?.delta.content ?? ''));
console.log();

const schema = {
  type: 'object',
  properties: { capital: { enum: ['Oslo', 'Bergen'] } },
  required: ['capital'],
  additionalProperties: false,
};
const shaped = await client.chat.completions.create({
  ...{ model, messages, max_tokens: 60 },
  response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } },
});
console.log(`shaped: ${JSON.parse(shaped.choices[0].message.content).capital}`);
