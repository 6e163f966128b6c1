import type { BuilderConfig } from './config.js';
import type { Docker } from './docker/docker.js';
import { createReport, type Report, type ReportOptions } from './report.js';

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

interface OutputChoice {
  json?: boolean;
  quiet?: boolean;
}

export function reportOptions({ stdout, stderr }: CommandDeps, flags: OutputChoice): ReportOptions {
  return { json: flags.json ?? false, quiet: flags.quiet ?? false, stdout, stderr };
}

export function reportOf(deps: CommandDeps, flags: OutputChoice): Report {
  return createReport(reportOptions(deps, flags));
}
