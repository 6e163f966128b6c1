import type { ChannelEvents, OpenChannel } from '../../runtime/worker/channel.js';
import type { FromEngine, ToEngine } from '../../runtime/worker/protocol.js';

/** An engine that does what the test says, one per start. */
export interface FakeEngine {
  /** Messages that it got. */
  received: ToEngine[];
  say(message: FromEngine): void;
  /** Dies. */
  die(reason: string): void;
}

export function fakeEngines(onStart: (engine: FakeEngine) => void = () => {}): {
  open: OpenChannel;
  started: FakeEngine[];
} {
  const started: FakeEngine[] = [];
  const open: OpenChannel = (events: ChannelEvents) => {
    let alive = true;
    const engine: FakeEngine = {
      received: [],
      say: (message) => alive && events.onMessage(message),
      die(reason) {
        if (alive) events.onExit(reason);
        alive = false;
      },
    };
    started.push(engine);
    setImmediate(onStart, engine);
    return {
      pid: started.length,
      // Copied as on the way to another process: what can't be copied throws.
      send: (message) => engine.received.push(structuredClone(message)),
      kill: () => engine.die('was ended by SIGKILL'),
    };
  };
  return { open, started };
}

export const READY: FromEngine = { type: 'ready', loadMs: 1, goldenMs: 1 };
