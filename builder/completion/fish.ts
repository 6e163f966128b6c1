import { allCommands, type CompletedCommand, type CompletedOption } from './tree.js';

/** A script for fish; `name` is the program's. */
export function fishCompletion(name: string, tree: CompletedCommand): string {
  const lines = allCommands(tree).flatMap((command) => [
    ...command.commands.map(
      ({ path, description }) =>
        `complete -c ${name} -n ${quoted(conditionOf(command))} -a ${path.at(-1)} -d ${quoted(description)}`,
    ),
    ...command.options.map(
      (option) => `complete -c ${name} -n ${quoted(conditionOf(command))}${flagsOf(option)}`,
    ),
    ...(command.names.length > 0
      ? [
          `complete -c ${name} -n ${quoted(conditionOf(command))} -a ${quoted(`(${name} names ${command.names.join(' ')} 2>/dev/null)`)}`,
        ]
      : []),
    ...(command.takesPaths ? [`complete -c ${name} -n ${quoted(conditionOf(command))} -F`] : []),
  ]);
  return `# fish completion for ${name}\ncomplete -c ${name} -f\n${lines.join('\n')}\n`;
}

/** The command that has been typed is this one, and none below it. */
function conditionOf({ path, commands }: CompletedCommand): string {
  if (path.length === 0) return '__fish_use_subcommand';
  const typed = path.map((part) => `__fish_seen_subcommand_from ${part}`);
  const below = commands.map((command) => command.path.at(-1)).join(' ');
  return [...typed, ...(below === '' ? [] : [`not __fish_seen_subcommand_from ${below}`])].join('; and ');
}

function flagsOf({ flags, description, value }: CompletedOption): string {
  const named = flags.map((flag) =>
    flag.startsWith('--') ? ` -l ${flag.slice(2)}` : ` -s ${flag.slice(1)}`,
  );
  return `${named.join('')}${valueOf(value)} -d ${quoted(description)}`;
}

function valueOf(value: CompletedOption['value']): string {
  if (value === undefined) return '';
  if (value === 'path') return ' -r -F';
  return value === 'any' ? ' -x' : ` -x -a ${quoted(value.choices.join(' '))}`;
}

const quoted = (text: string): string => `'${text.replaceAll(/['\\]/g, (character) => `\\${character}`)}'`;
