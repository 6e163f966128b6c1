import { RunError } from '../../../core/errors.js';
import type { Json } from '../../repository/model-folder.js';

/** scheduler_config.json: what it lacks, or gives as null, has the default of its Python class. */
export interface SchedulerConfig {
  readonly name: string;
  number(field: string, standard: number): number;
  optionalNumber(field: string): number | undefined;
  flag(field: string, standard: boolean): boolean;
  numbers(field: string): number[] | undefined;
  /** @throws RunError `not_ready` for a value that is not one of `known` */
  choice<T extends string>(field: string, known: readonly T[], standard: T): T;
  /** @throws RunError `not_ready` where the field is there */
  refuse(field: string): void;
}

export function schedulerConfig(json: Json): SchedulerConfig {
  const name = String(json['_class_name']);
  const refused = (field: string) =>
    new RunError('not_ready', `${name} with ${field} ${JSON.stringify(json[field])} is not supported`);
  return {
    name,
    number(field, standard) {
      const value = json[field] ?? standard;
      if (typeof value !== 'number' || Number.isNaN(value)) throw refused(field);
      return value;
    },
    optionalNumber(field) {
      return json[field] == null ? undefined : this.number(field, 0);
    },
    flag: (field, standard) => Boolean(json[field] ?? standard),
    numbers(field) {
      const value = json[field];
      if (value == null) return undefined;
      if (Array.isArray(value) && value.every((one) => typeof one === 'number')) return value;
      throw refused(field);
    },
    choice(field, known, standard) {
      const value = json[field] ?? standard;
      const found = known.find((one) => one === value);
      if (found === undefined) throw refused(field);
      return found;
    },
    refuse(field) {
      if (json[field] != null && json[field] !== false) throw refused(field);
    },
  };
}

/** Most steps that can be asked of any schedule. */
export function requireSteps(config: SchedulerConfig, steps: number): void {
  const most = trainSteps(config);
  if (steps <= most) return;
  throw new RunError('unprocessable', `params.num_inference_steps: this model takes ${most} at most`);
}

/** Steps of the schedule under which the network was trained. */
export function trainSteps(config: SchedulerConfig): number {
  const steps = config.number('num_train_timesteps', 1000);
  if (Number.isInteger(steps) && steps > 0 && steps <= 100_000) return steps;
  throw new RunError('not_ready', `${config.name} with num_train_timesteps ${steps} is not supported`);
}
