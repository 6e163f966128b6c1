import { allCommands, type CompletedCommand, type CompletedOption } from './tree.js';

/** A script for zsh; `name` is the program's. */
export function zshCompletion(name: string, tree: CompletedCommand): string {
  const functions = allCommands(tree).map((command) => functionOf(name, command));
  return `#compdef ${name}
${functions.join('\n')}
if [ "$funcstack[1]" = "_${name}" ]; then _${name} "$@"; else compdef _${name} ${name}; fi
`;
}

const functionName = (name: string, path: readonly string[]): string => ['', name, ...path].join('_');

function functionOf(name: string, command: CompletedCommand): string {
  const options = command.options.map(optionLine);
  const rest =
    command.commands.length > 0 ? ["'1: :->command'", "'*:: :->argument'"] : [argumentLine(name, command)];
  const specs = [...options, ...rest].map((line) => `    ${line}`).join(' \\\n');
  return `${functionName(name, command.path)}() {
  local curcontext="$curcontext" state line
  _arguments -C \\
${specs}
${command.commands.length > 0 ? dispatch(name, command) : ''}}`;
}

function dispatch(name: string, { commands }: CompletedCommand): string {
  const described = commands.map(
    ({ path, description }) => `      ${quoted(`${path.at(-1)}:${description}`)}`,
  );
  const cases = commands.map(({ path }) => `    ${path.at(-1)}) ${functionName(name, path)} ;;`);
  return `  if [ "$state" = command ]; then
    local -a commands=(
${described.join('\n')}
    )
    _describe command commands
  elif [ "$state" = argument ]; then
    case "$line[1]" in
${cases.join('\n')}
    esac
  fi
`;
}

function optionLine({ flags, description, value }: CompletedOption): string {
  const text = bracketed(description);
  const action = value === undefined ? '' : `: :${actionOf(value)}`;
  if (flags.length === 1) return quoted(`${flags[0]}[${text}]${action}`);
  return `'(${flags.join(' ')})'{${flags.join(',')}}${quoted(`[${text}]${action}`)}`;
}

function actionOf(value: NonNullable<CompletedOption['value']>): string {
  if (value === 'path') return '_files';
  return value === 'any' ? ' ' : `(${value.choices.join(' ')})`;
}

/** Names that the program tells, one in a line, and paths. */
function argumentLine(name: string, { takesPaths, names }: CompletedCommand): string {
  const told = `compadd -- \${(f)"$(${name} names ${names.join(' ')} 2>/dev/null)"}`;
  const actions = [...(names.length > 0 ? [told] : []), ...(takesPaths ? ['_files'] : [])];
  return `'*: :${actions.length === 0 ? ' ' : `{${actions.join('; ')}}`}'`;
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Brackets and colons end a description. */
const bracketed = (text: string): string => text.replaceAll(/[[\]:\\]/g, (character) => `\\${character}`);
