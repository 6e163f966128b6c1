import type { BuilderConfig } from './config.js';
import type { Docker } from './docker/docker.js';
import { createReport, type Report } from './report.js';

/** Dependencies of commands; tests pass their own. */
export interface CommandDeps {
  config: BuilderConfig;
  docker: Docker;
  /** Folder of this program's package.json, templates and built server. */
  packageRoot: string;
  version: string;
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
}

export function reportOf(deps: CommandDeps, flags: { json?: boolean; quiet?: boolean }): Report {
  const { stdout, stderr } = deps;
  return createReport({ json: flags.json ?? false, quiet: flags.quiet ?? false, stdout, stderr });
}
