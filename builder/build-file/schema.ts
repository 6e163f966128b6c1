import path from 'node:path';
import type { Option } from 'commander';
import * as z from 'zod';
import { parseModelId } from '../options.js';

/** Values of options by the names that commander gives them. */
export type OptionValues = Record<string, unknown>;

/** A model of a build file: what its entry says, over the defaults of the file. */
export interface FileModel {
  id: string;
  values: OptionValues;
}

export interface SchemaOptions {
  /** Those of the command line, which a file may have by their long names. */
  options: readonly Option[];
  /** Paths in the file are relative to it. */
  folder: string;
}

/** The build file: `models` by id, and `defaults` for all of them. */
export function buildFileSchema({ options, folder }: SchemaOptions) {
  const shape = Object.fromEntries(
    options.map((option) => [option.name(), valueOf(option, folder).optional()]),
  );
  const byAttribute = (entry: OptionValues): OptionValues =>
    Object.fromEntries(
      options.flatMap((option) => {
        const value = entry[option.name()];
        return value === undefined ? [] : [[option.attributeName(), value]];
      }),
    );
  const entry = z
    .strictObject({ id: z.string().transform(parsedBy(parseModelId)), ...shape })
    .transform(({ id, ...values }) => ({ id, values: byAttribute(values) }));
  return z.strictObject({
    defaults: z.strictObject(shape).transform(byAttribute).default({}),
    models: z
      .array(z.preprocess((value) => (typeof value === 'string' ? { id: value } : value), entry))
      .min(1),
  });
}

const text = z.string('expected a text: put numbers into quotes');

/** A value as the option's own parser takes it. A list is what a repeated option or commas would be. */
function valueOf(option: Option, folder: string): z.ZodType {
  if (option.isBoolean()) return z.boolean('expected true or false');
  const parse = (value: string, before: unknown) =>
    option.parseArg ? option.parseArg(value, before) : value;
  if (option.flags.endsWith('<folder>'))
    return text.transform((value, context) =>
      parsedBy((given: string) => parse(path.resolve(folder, given), option.defaultValue))(value, context),
    );
  const parseAll = (values: readonly string[]) =>
    values.reduce<unknown>((before, value) => parse(value, before), option.defaultValue);
  const one = text.transform((value) => [value]);
  if (!takesSeveral(option)) return one.transform(parsedBy(parseAll));
  const isList = option.flags.endsWith('<list>');
  const several = z.array(text).min(1);
  return z
    .preprocess((value) => (typeof value === 'string' ? [value] : value), several)
    .transform(parsedBy((values: string[]) => parseAll(isList ? [values.join(',')] : values)));
}

/** Parsers of options that may be repeated read the value before, as does that of choices, for other reasons. */
const takesSeveral = ({ flags, argChoices, parseArg }: Option): boolean =>
  flags.endsWith('<list>') || (argChoices === undefined && (parseArg?.length ?? 0) > 1);

/** Errors of a command line's parser as issues. */
function parsedBy<In, Out>(parse: (value: In) => Out) {
  return (value: In, context: z.RefinementCtx): Out => {
    try {
      return parse(value);
    } catch (error) {
      context.addIssue({ code: 'custom', message: (error as Error).message });
      return z.NEVER;
    }
  };
}
