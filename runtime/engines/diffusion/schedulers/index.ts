import { RunError } from '../../../core/errors.js';
import type { Json } from '../../repository/model-folder.js';
import { type SchedulerConfig, schedulerConfig } from './config.js';
import { ddim } from './ddim.js';
import { ddpm } from './ddpm.js';
import { deis } from './deis.js';
import { dpmSolver } from './dpm-solver.js';
import { eulerAncestral } from './euler-ancestral.js';
import { euler } from './euler.js';
import { flowMatchEuler } from './flow-match-euler.js';
import { heun } from './heun.js';
import { kDpm2, kDpm2Ancestral } from './k-dpm-2.js';
import { lcm } from './lcm.js';
import { lms } from './lms.js';
import { pndm } from './pndm.js';
import type { Scheduler } from './scheduler.js';
import { uniPc } from './uni-pc.js';

/** Python class to what computes the same. */
const CLASSES: Readonly<Record<string, (config: SchedulerConfig) => Scheduler>> = {
  DDIMScheduler: ddim,
  DDPMScheduler: ddpm,
  PNDMScheduler: pndm,
  EulerDiscreteScheduler: euler,
  EulerAncestralDiscreteScheduler: eulerAncestral,
  HeunDiscreteScheduler: heun,
  LCMScheduler: lcm,
  DPMSolverMultistepScheduler: dpmSolver,
  UniPCMultistepScheduler: uniPc,
  LMSDiscreteScheduler: lms,
  KDPM2DiscreteScheduler: kDpm2,
  KDPM2AncestralDiscreteScheduler: kDpm2Ancestral,
  DEISMultistepScheduler: deis,
  FlowMatchEulerDiscreteScheduler: flowMatchEuler,
};

/**
 * The scheduler of a scheduler_config.json.
 * @throws RunError `not_ready` for a class, or a value of the configuration, that is not known
 */
export function createScheduler(json: Json): Scheduler {
  const name = String(json['_class_name']);
  const create = Object.hasOwn(CLASSES, name) ? CLASSES[name] : undefined;
  if (create) return create(schedulerConfig(json));
  throw new RunError(
    'not_ready',
    `the scheduler ${name} is not supported; supported: ${Object.keys(CLASSES).join(', ')}`,
  );
}
