#!/usr/bin/env node
import { BuilderError } from '../builder/exit.js';
import { createGatewayProgram } from './cli.js';
import { GatewayError } from './errors.js';

try {
  await createGatewayProgram().parseAsync();
} catch (error) {
  const ours = error instanceof GatewayError || error instanceof BuilderError;
  process.stderr.write(`gateway: ${ours ? error.message : String((error as Error).stack)}\n`);
  // Whatever was open by then, such as a connection to Redis, would keep it from ending.
  process.exit(ours ? 2 : 1);
}
