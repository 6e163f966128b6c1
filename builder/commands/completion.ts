import { Argument, type Command } from 'commander';
import type { CommandDeps } from '../deps.js';
import { bashCompletion } from '../completion/bash.js';
import { fishCompletion } from '../completion/fish.js';
import { completionTree } from '../completion/tree.js';
import { zshCompletion } from '../completion/zsh.js';

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

const notes = (name: string): string => `
Examples:
  ${name} completion bash > ~/.local/share/bash-completion/completions/${name}
  ${name} completion zsh > "\${fpath[1]}/_${name}"
  ${name} completion fish > ~/.config/fish/completions/${name}.fish
  source <(${name} completion bash)`;

/** `builder completion` and `gateway completion`: a script that completes commands, options and their values. */
export function completionCommand(program: Command, { stdout }: Pick<CommandDeps, 'stdout'>): void {
  program
    .command('completion')
    .description('Print a script that completes this command line in a shell')
    .addArgument(new Argument('<shell>', 'which shell').choices(Object.keys(SHELLS)))
    .addHelpText('after', notes(program.name()))
    .action((shell: keyof typeof SHELLS) => {
      stdout.write(SHELLS[shell](program.name(), completionTree(program)));
    });
}
