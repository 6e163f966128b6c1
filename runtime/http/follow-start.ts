import type { EngineState } from '../worker/engine-state.js';
import type { StartPhase } from './metrics.js';

/**
 * Measures the parts of each start of a model by the states that it goes through.
 * @param tell told of a part and its milliseconds; of the total once, since a model that is opened again was not started anew
 */
export function followStart(
  tell: (phase: StartPhase, milliseconds: number) => void,
): (state: EngineState) => void {
  let began: number | undefined;
  let isStarted = false;
  return (state) => {
    if (state.name === 'preparing') began = performance.now();
    if (state.name === 'loading' && began !== undefined) {
      tell('prepare', performance.now() - began);
      began = undefined;
    }
    if (state.name !== 'ready') return;
    tell('load', state.times.loadMs);
    tell('first_request', state.times.goldenMs);
    // The clock counts from the beginning of the process.
    if (!isStarted) tell('total', performance.now());
    isStarted = true;
  };
}
