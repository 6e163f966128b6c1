#!/usr/bin/env node
import { ownPackage } from '../runtime/boot/own-package.js';
import { runCli } from './cli.js';
import { readBuilderConfig } from './config.js';
import type { CommandDeps } from './deps.js';
import { EXIT } from './exit.js';
import { dockerodeDocker } from './docker/dockerode.js';

const { folder: packageRoot, version } = ownPackage(import.meta.dirname);

// `builder list | head` closes the pipe early; that is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

try {
  const deps: CommandDeps = {
    config: readBuilderConfig(),
    docker: dockerodeDocker(),
    packageRoot,
    version,
    stdout: process.stdout,
    stderr: process.stderr,
  };
  const code = await runCli(process.argv.slice(2), deps);
  // After Ctrl-C, don't wait for open connections.
  if (code === EXIT.interrupted) process.exit(code);
  process.exitCode = code;
} catch (error) {
  process.stderr.write(`builder: ${(error as Error).message}\n`);
  process.exitCode = 2;
}
