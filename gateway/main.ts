#!/usr/bin/env node
import { BuilderError } from '../builder/exit.js';
import { createGatewayProgram } from './cli.js';
import { GatewayError } from './errors.js';

try {
  await createGatewayProgram().parseAsync();
} catch (error) {
  const isExpected = error instanceof GatewayError || error instanceof BuilderError;
  process.stderr.write(`gateway: ${isExpected ? error.message : String((error as Error).stack)}\n`);
  // Open handles, such as a connection to Redis, would keep the process alive.
  process.exit(isExpected ? 2 : 1);
}
