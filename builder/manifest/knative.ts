import { type JsonObject, knativePodSpec, labels, metadata } from './pod.js';
import type { ManifestSettings } from './settings.js';

/** Longest request that Knative allows by default. */
const TIMEOUT_SECONDS = 600;

/** A Knative Service, which scales to zero and holds callers while a pod starts. */
export function knativeDocuments(settings: ManifestSettings): JsonObject[] {
  const base = metadata(settings);
  const autoscaling = {
    'autoscaling.knative.dev/min-scale': '0',
    'autoscaling.knative.dev/max-scale': String(settings.replicas),
    // Loading takes long, so keep the last pod for a while.
    'autoscaling.knative.dev/scale-to-zero-pod-retention-period': '5m',
  };
  return [
    {
      apiVersion: 'serving.knative.dev/v1',
      kind: 'Service',
      // Models require no key, so only the gateway may reach them.
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
