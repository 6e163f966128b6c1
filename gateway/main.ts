#!/usr/bin/env node
import { BuilderError } from '../builder/exit.js';
import { createProgram } from './cli.js';
import { GatewayError } from './errors.js';

try {
  await createProgram().parseAsync();
} catch (error) {
  const ours = error instanceof GatewayError || error instanceof BuilderError;
  process.stderr.write(`gateway: ${ours ? error.message : String((error as Error).stack)}\n`);
  process.exitCode = ours ? 2 : 1;
}
