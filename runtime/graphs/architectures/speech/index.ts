import type { AnyArchitecture } from '../../architecture.js';
import { musicgen } from './musicgen.js';
import { vits } from './vits.js';

/** Families that make sounds. */
export const SPEECH: readonly AnyArchitecture[] = [vits, musicgen];
