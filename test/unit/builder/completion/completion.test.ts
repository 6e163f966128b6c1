import { spawnSync } from 'node:child_process';
import { createBuilderProgram } from '../../../../builder/cli.js';
import { bashCompletion } from '../../../../builder/completion/bash.js';
import { fishCompletion } from '../../../../builder/completion/fish.js';
import { allCommands, completionTree } from '../../../../builder/completion/tree.js';
import { zshCompletion } from '../../../../builder/completion/zsh.js';
import { readBuilderConfig } from '../../../../builder/config.js';
import { createGatewayProgram } from '../../../../gateway/cli.js';
import { fakeDocker } from '../../../fakes/docker.js';
import { sink } from '../support.js';

const streams = { stdout: sink().stream, stderr: sink().stream };
const deps = {
  config: readBuilderConfig({}),
  docker: fakeDocker(),
  packageRoot: '.',
  version: '1',
  ...streams,
};
const builder = completionTree(createBuilderProgram(deps));
const gateway = completionTree(createGatewayProgram());

/** What bash offers after a line, by running it. */
function offered(name: string, tree: typeof builder, line: string): string[] {
  const words = line.split(' ');
  const quoted = words.map((word) => `'${word}'`).join(' ');
  const script = `${bashCompletion(name, tree)}
compopt() { :; }
builder() { case "$*" in
  'names models images') printf '%s\\n' org/name org/other slipway/org_name slipway/org_name:v1 ;;
  'names models') printf '%s\\n' org/name org/other ;;
  'names images') printf '%s\\n' slipway/org_name slipway/org_name:v1 slipway/org_name:v2 ;;
  'names containers') printf '%s\\n' slipway-org-name-8080 ;;
  'names images containers') printf '%s\\n' slipway/org_name slipway-org-name-8080 ;;
  *) exit 1 ;;
esac; }
COMP_LINE='${line}'; COMP_POINT=${line.length}
COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _${name}
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout.split('\n').filter(Boolean);
}

describe('bash', () => {
  test.each([
    ['builder ', expect.arrayContaining(['plan', 'build', 'bench', 'prune', '--help'])],
    ['builder sn', ['snapshot']],
    ['builder plan --dt', ['--dtype']],
    ['builder plan --dtype q4', ['q4', 'q4f16']],
    ['builder plan --memory ', []],
    ['builder build org/model --fold', ['--folders-only']],
    ['builder load pack', expect.arrayContaining(['package.json'])],
    ['builder export x -o pack', expect.arrayContaining(['package.json'])],
    ['builder completion --', ['--help']],
    ['builder serve --until', []],
    ['builder plan org/n', ['org/name']],
    ['builder plan org/name org/o', ['org/other']],
    ['builder bench ', ['org/name', 'org/other', 'slipway/org_name', 'slipway/org_name:v1']],
    ['builder test slipway/', ['slipway/org_name', 'slipway/org_name:v1', 'slipway/org_name:v2']],
    ['builder logs ', ['slipway-org-name-8080']],
    ['builder stop sl', ['slipway-org-name-8080']],
    ['builder verify slipway/org_name:v2', [':v2'].map((tag) => tag.slice(1))],
  ])('%s', (line, expected) => {
    expect(offered('builder', builder, line)).toEqual(expected);
  });

  test('the gateway knows no names', () => {
    expect(bashCompletion('gateway', gateway)).not.toContain('gateway names');
  });

  test('commands below commands', () => {
    expect(offered('gateway', gateway, 'gateway keys re')).toEqual(['revoke']);
    expect(offered('gateway', gateway, 'gateway keys create --na')).toEqual(['--name']);
    expect(offered('gateway', gateway, 'gateway serve --upstream st')).toEqual(['static']);
  });
});

test('zsh and fish ask for the same names', () => {
  expect(zshCompletion('builder', builder)).toContain(
    `'*: :{compadd -- \${(f)"$(builder names images 2>/dev/null)"}}'`,
  );
  expect(fishCompletion('builder', builder)).toContain(
    `-n '__fish_seen_subcommand_from logs' -a '(builder names containers 2>/dev/null)'`,
  );
});

test.each([
  ['zsh', zshCompletion],
  ['fish', fishCompletion],
  ['bash', bashCompletion],
])('%s has every command and every option that --help shows', (_, script) => {
  const text = script('builder', builder);
  for (const { path, options } of allCommands(builder)) {
    if (path.length > 0) expect(text).toContain(path.at(-1));
    for (const flag of options.flatMap(({ flags }) => flags))
      expect(text).toContain(flag.replace(/^--?/, ''));
  }
});
