import { existsSync } from 'node:fs';
import { Command } from 'commander';
import { BuilderError } from '../exit.js';
import { addBakeOption, addImageOptions, addPackingOptions, addSourceOptions } from '../options.js';
import { BUILD_FILE, readBuildFile } from './read.js';

/** A model that is named, with all flags of the command. */
export interface Entry<Flags> {
  id: string;
  flags: Flags;
}

/** Options of `builder build`, which its file may have. */
export const addBuildOptions = (command: Command): Command =>
  addBakeOption(addImageOptions(addPackingOptions(addSourceOptions(command))));

/**
 * The file's models, each with its flags: the command line's, else the file's, else the defaults of the command. The file is that of
 * `builder build`; other commands leave alone what is not theirs.
 * @param file the one in this folder if undefined
 * @throws BuilderError `usage`
 */
export async function entriesOf<Flags>(file: string | undefined, command: Command): Promise<Entry<Flags>[]> {
  if (file === undefined && !existsSync(BUILD_FILE))
    throw new BuilderError(
      'usage',
      `name a model, or write ./${BUILD_FILE}; see builder ${command.name()} --help`,
    );
  // The file of a model is another one.
  const { file: _own, ...defaults } = command.opts();
  const given = Object.fromEntries(
    Object.entries(defaults).filter(([name]) => command.getOptionValueSource(name) === 'cli'),
  );
  const { options } = addBuildOptions(new Command());
  const models = await readBuildFile(file ?? BUILD_FILE, { options, defaults, given });
  // Parsed by the options' own parsers, as commander does it.
  return models.map(({ id, values }) => ({ id, flags: values as unknown as Flags }));
}

/** Options of one model, which several can't share. */
const OF_ONE = ['from', 'file', 'mmproj', 'revision'];

/**
 * The models of the command line, else those of the build file.
 * @throws BuilderError `usage` for an option that several models can't share
 */
export async function namedEntries<Flags extends { file?: string }>(
  ids: readonly string[],
  { file, ...flags }: Flags,
  command: Command,
): Promise<Entry<Omit<Flags, 'file'> & { file?: string | undefined }>[]> {
  if (ids.length === 0) return entriesOf(file, command);
  const shared = OF_ONE.find((name) => command.getOptionValueSource(name) === 'cli');
  if (ids.length > 1 && shared !== undefined)
    throw new BuilderError('usage', `--${shared} is of one model: give each its own in ${BUILD_FILE}`);
  return ids.map((id) => ({ id, flags: { ...flags, file } }));
}
