import * as z from 'zod';

const pattern = z
  .string()
  .min(1)
  .max(2 ** 16);

/** What a text has to be: at most one of these. */
export const grammarParams = {
  json_schema: z
    .record(z.string(), z.unknown())
    .nullish()
    .describe('the answer is JSON that this schema allows, without blanks between its parts'),
  json_object: z.boolean().nullish().describe('true: the answer is an object of JSON'),
  regex: pattern.nullish().describe('the answer as a whole fits this regular expression'),
  choices: z.array(z.string().min(1)).min(1).max(2000).nullish().describe('the answer is one of these texts'),
  grammar: pattern
    .nullish()
    .describe('the answer follows this grammar in Lark’s notation, from its rule start on'),
};
