import * as z from 'zod';
import { markChoice } from '../writer/fields.js';

/**
 * The configuration of a model inside of another one's, which its type says how to read.
 * @param schemaOf undefined for a type that can't be part of the other model
 * @param usual type of one that names none
 * @param absent stands for one that is left out
 */
export const innerConfig = <T>(
  schemaOf: (type: string) => z.ZodType<T> | undefined,
  { usual, absent = {} }: { usual: string; absent?: Readonly<Record<string, unknown>> },
) => {
  const schema = z
    .record(z.string(), z.unknown())
    .nullish()
    .transform((given, context): T => {
      const config = given ?? absent;
      const type = config['model_type'] ?? usual;
      const refused = (message: string, path: PropertyKey[]) => {
        context.addIssue({ code: 'custom', message, path, input: given });
        return z.NEVER;
      };
      if (typeof type !== 'string') return refused('is no text', ['model_type']);
      const schema = schemaOf(type);
      if (!schema)
        return refused(`no graph can be written for ${type} as a part of this model`, ['model_type']);
      const parsed = schema.safeParse(config);
      if (parsed.success) return parsed.data;
      const [{ message, path }] = parsed.error.issues as [z.core.$ZodIssue];
      return refused(message, path);
    });
  return markChoice(schema, { schemaOf, usual });
};
