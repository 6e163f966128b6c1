import type { Command, Option } from 'commander';

/** What may follow an option: one of some words, a path, or what only the caller knows. Undefined for a switch. */
export type Value = { choices: readonly string[] } | 'path' | 'any' | undefined;

export interface CompletedOption {
  /** As they are written, e.g. `-o` and `--output`. */
  flags: string[];
  description: string;
  value: Value;
}

/** What there is on this machine, that arguments may name; the program tells it (commands/names.ts). */
export const NAME_KINDS = ['models', 'images', 'containers'] as const;

export type NameKind = (typeof NAME_KINDS)[number];

/** A command, as shells complete it. */
export interface CompletedCommand {
  /** Names from the program to it, without the program's. */
  path: string[];
  description: string;
  options: CompletedOption[];
  commands: CompletedCommand[];
  /** Its arguments may be paths. */
  takesPaths: boolean;
  /** What its arguments may name. */
  names: NameKind[];
}

/** Reads a program's commands and options, hidden ones left out. */
export function completionTree(program: Command, path: string[] = []): CompletedCommand {
  const help = program.createHelp();
  return {
    path,
    description: program.description(),
    options: help.visibleOptions(program).map(optionOf),
    commands: help
      .visibleCommands(program)
      .filter((command) => command.name() !== 'help')
      .map((command) => completionTree(command, [...path, command.name()])),
    names: namesOf(program),
    takesPaths: program.registeredArguments.some((argument) => /file|folder/.test(argument.name())),
  };
}

/** What an argument may be, its name says, such as `<image|url|id>`. */
const NAMED: Readonly<Record<NameKind, RegExp>> = {
  models: /model|\bid$/,
  images: /image/,
  containers: /container/,
};

function namesOf(command: Command): NameKind[] {
  const { registeredArguments } = command;
  if (!rootOf(command).commands.some((each) => each.name() === 'names')) return [];
  const named = registeredArguments.map((argument) => argument.name()).join(' ');
  return NAME_KINDS.filter((kind) => NAMED[kind].test(named));
}

const rootOf = (command: Command): Command => (command.parent ? rootOf(command.parent) : command);

/** All commands, the program first. */
export function allCommands(tree: CompletedCommand): CompletedCommand[] {
  return [tree, ...tree.commands.flatMap(allCommands)];
}

function optionOf(option: Option): CompletedOption {
  const { short, long, description } = option;
  const flags = [short, long].filter((flag) => flag !== undefined);
  return { flags, description: description.replaceAll(/\s+/g, ' '), value: valueOf(option) };
}

function valueOf({ argChoices, required, optional, flags }: Option): Value {
  if (!required && !optional) return undefined;
  if (argChoices) return { choices: argChoices };
  return /<(?:file|folder)>/.test(flags) ? 'path' : 'any';
}
