import { allCommands, type CompletedCommand, type CompletedOption } from './tree.js';

/** A script for bash; `name` is the program's. */
export function bashCompletion(name: string, tree: CompletedCommand): string {
  const commands = allCommands(tree);
  const paths = commands.slice(1).map((command) => quoted(pathOf(command)));
  return `# bash completion for ${name}
_${name}() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD - 1]}" path="" words="" i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path \${COMP_WORDS[i]}" in
      ${paths.join(' | ')}) path="$path \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$path $prev" in
${commands.flatMap(valueCases).join('\n')}
  esac
  case "$path" in
${commands.map((command) => wordCase(name, command)).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F _${name} ${name}
`;
}

const pathOf = ({ path }: CompletedCommand): string => path.map((part) => ` ${part}`).join('');
const quoted = (text: string): string => `"${text}"`;

/** What may follow an option. */
function valueCases(command: CompletedCommand): string[] {
  return command.options
    .filter(({ value }) => value !== undefined)
    .map((option) => {
      const patterns = option.flags.map((flag) => quoted(`${pathOf(command)} ${flag}`));
      return `    ${patterns.join(' | ')}) ${replyTo(option)}return ;;`;
    });
}

function replyTo({ value }: CompletedOption): string {
  if (value === 'path') return `compopt -o filenames; COMPREPLY=($(compgen -f -- "$cur")); `;
  if (typeof value !== 'object') return '';
  return `COMPREPLY=($(compgen -W "${value.choices.join(' ')}" -- "$cur")); `;
}

/**
 * Names hold colons, at which bash breaks words: what is typed is read from the line, and what stands before the last colon is left out
 * of the replies.
 */
function nameReplies(name: string, { names }: CompletedCommand): string {
  return [
    'local typed="${COMP_LINE:0:COMP_POINT}"; typed="${typed##* }"',
    `COMPREPLY=($(compgen -W "$(${name} names ${names.join(' ')} 2>/dev/null)" -- "$typed"))`,
    '[[ $typed != *:* || $COMP_WORDBREAKS != *:* ]] || COMPREPLY=("${COMPREPLY[@]#"${typed%"${typed##*:}"}"}")',
  ].join('; ');
}

function wordCase(name: string, command: CompletedCommand): string {
  const options = command.options.flatMap(({ flags }) => flags);
  const words = [...command.commands.map(({ path }) => path.at(-1)!), ...options].join(' ');
  const replies = [
    ...(command.names.length > 0 ? [nameReplies(name, command)] : []),
    ...(command.takesPaths
      ? ['compopt -o filenames', `COMPREPLY${command.names.length > 0 ? '+' : ''}=($(compgen -f -- "$cur"))`]
      : []),
  ];
  const given = replies.length === 0 ? '' : `[[ $cur == -* ]] || { ${replies.join('; ')}; return; }; `;
  return `    ${quoted(pathOf(command))}) ${given}words="${words}" ;;`;
}
