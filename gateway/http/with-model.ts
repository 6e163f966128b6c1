import { setTimeout as sleep } from 'node:timers/promises';
import type { Response } from 'express';
import { RunError } from '../../runtime/core/errors.js';
import { abortControllerOf } from '../../runtime/wire/middleware.js';
import type { ModelEntry } from '../catalog/entry.js';
import { type Meter, meterOf, type Tier } from '../meters.js';
import type { Lease, Upstream } from '../upstream/upstream.js';
import { callContext } from './call-context.js';
import { newConnections, type Target } from './proxy.js';
import { createTryAgain, isRefusal } from './try-again.js';

export interface ModelParts {
  upstream: Upstream;
  tiers: readonly Tier[];
  /** Longest wait for a model to start. */
  startMs: number;
  /** Longest time of a call at its server, until the end of the answer. */
  callMs: number;
}

/** A server of a model, for one call. */
export interface ModelServer extends Target {
  /** Aborted when the caller leaves or a time limit is exceeded. */
  signal: AbortSignal;
  /** Response headers with the cost so far; for a stream, the cost until its first chunk. */
  headers(): Record<string, string>;
}

/**
 * Leases a server of the model for `use`, and records the cost in the call's context. When a server stops and has not begun
 * with the call, can't be reached, or breaks off before its answer, another one is tried.
 * @throws RunError `not_ready` when the model has not started in time, or what the upstream or `use` throws
 */
export async function withModel(
  entry: ModelEntry,
  response: Response,
  parts: ModelParts,
  use: (server: ModelServer) => Promise<void>,
): Promise<void> {
  const arrived = performance.now();
  const call = callContext(response);
  const controller = abortControllerOf(response);
  const { signal } = controller;
  const meter = meterOf(entry, parts.tiers);
  const again = createTryAgain();
  for (let isFirst = true; ; isFirst = false) {
    const lease = await acquire(entry, controller, parts);
    const deadline = setTimeout(() => controller.abort(callTimeout(parts.callMs)), parts.callMs);
    const started = performance.now();
    // Behind the address of a Service a new connection finds another pod; one that is kept leads to the same again.
    const { url, client, cold, dispatcher = isFirst ? undefined : newConnections } = lease;
    call.cold = cold;
    call.waitedMs = started - arrived;
    call.work = { started, perSecond: meter.perSecond };
    const headers = () => ({
      ...costHeaders(meter, (performance.now() - started) / 1000),
      ...(cold ? { 'inference-cold-start': 'true' } : {}),
    });
    let failed: unknown;
    try {
      return await use({ url, dispatcher, client, signal, headers });
    } catch (error) {
      if (isTimeout(signal.reason)) void lease.suspect?.();
      if (isRefusal(error)) lease.stops?.();
      // Before the caller gets the error, so that its next call does not go to the same server.
      else if (isCrash(error)) await lease.suspect?.();
      failed = error;
    } finally {
      clearTimeout(deadline);
      lease.release();
    }
    const pauseMs = response.headersSent ? undefined : again.pauseAfter(failed);
    if (pauseMs === undefined) throw failed;
    await sleep(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

function callTimeout(callMs: number): RunError {
  return new RunError('timeout', `the model has not finished within ${callMs / 1000} s (--call-timeout)`);
}

function isTimeout(error: unknown): boolean {
  return error instanceof RunError && error.code === 'timeout';
}

function isCrash(error: unknown): boolean {
  return error instanceof RunError && error.code === 'engine_crashed';
}

function costHeaders({ meter, meterPrice, perSecond }: Meter, seconds: number): Record<string, string> {
  return {
    'inference-meter': meter,
    'inference-meter-price': meterPrice,
    'inference-time': seconds.toFixed(3),
    'inference-cost': (seconds * perSecond).toFixed(10),
  };
}

/**
 * Leases a server of the model; starts one if needed.
 * @throws RunError `not_ready` when it has not started in time, or what the upstream throws
 */
export async function acquire(
  entry: ModelEntry,
  controller: AbortController,
  { upstream, startMs }: Pick<ModelParts, 'upstream' | 'startMs'>,
): Promise<Lease> {
  const message = `${entry.modelId} has not started within ${startMs / 1000} s`;
  const late = () => controller.abort(new RunError('not_ready', message, { retryAfter: 30 }));
  const timer = setTimeout(late, startMs);
  try {
    return await upstream.acquire(entry, controller.signal);
  } finally {
    // Timers of many minutes, one per call, would pile up.
    clearTimeout(timer);
  }
}
