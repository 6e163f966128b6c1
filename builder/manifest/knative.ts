import { type JsonObject, knativePodSpec, labels, metadata } from './pod.js';
import type { ManifestSettings } from './settings.js';

/** The longest that Knative lets a request take unless its own configuration says more. */
const TIMEOUT_SECONDS = 600;

/** A Service of Knative, which ends the last pod when nobody asks and holds callers while it starts one. */
export function knativeDocuments(settings: ManifestSettings): JsonObject[] {
  const base = metadata(settings);
  const autoscaling = {
    'autoscaling.knative.dev/min-scale': '0',
    'autoscaling.knative.dev/max-scale': String(settings.replicas),
    // A model is loaded anew each time: it stays a while for the next call.
    'autoscaling.knative.dev/scale-to-zero-pod-retention-period': '5m',
  };
  return [
    {
      apiVersion: 'serving.knative.dev/v1',
      kind: 'Service',
      // Models ask nobody for a key: they are reached through the gateway.
      metadata: {
        ...base,
        labels: { ...labels(settings), 'networking.knative.dev/visibility': 'cluster-local' },
      },
      spec: {
        template: {
          metadata: { labels: labels(settings), annotations: autoscaling },
          spec: {
            containerConcurrency: settings.batches ? 128 : 16,
            timeoutSeconds: TIMEOUT_SECONDS,
            responseStartTimeoutSeconds: TIMEOUT_SECONDS,
            ...knativePodSpec(settings),
          },
        },
      },
    },
  ];
}
