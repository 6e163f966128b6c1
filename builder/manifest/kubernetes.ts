import { type JsonObject, labels, metadata, podSpec, selector } from './pod.js';
import type { ManifestSettings } from './settings.js';

/** Minimum progress deadline of a rollout in seconds; downloads count. */
const MIN_PROGRESS_SECONDS = 3600;

/** Deployment, Service, and the optional documents. */
export function kubernetesDocuments(settings: ManifestSettings): JsonObject[] {
  return [
    deployment(settings),
    service(settings),
    ...(settings.networkPolicy ? [networkPolicy(settings)] : []),
    ...(settings.host === undefined ? [] : [ingress(settings, settings.host)]),
  ];
}

function deployment(settings: ManifestSettings): JsonObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadata(settings),
    spec: {
      replicas: settings.replicas,
      progressDeadlineSeconds: Math.max(MIN_PROGRESS_SECONDS, settings.startSeconds),
      selector: { matchLabels: selector(settings) },
      template: { metadata: { labels: labels(settings) }, spec: podSpec(settings) },
    },
  };
}

/** The gateway finds it by its labels. */
function service(settings: ManifestSettings): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadata(settings),
    spec: {
      selector: selector(settings),
      ports: [{ name: 'http', port: 80, targetPort: 'http1' }],
    },
  };
}

/** Models require no key, so only the gateway's pods of this namespace may reach them. */
function networkPolicy(settings: ManifestSettings): JsonObject {
  const gateway = { matchLabels: { 'app.kubernetes.io/name': 'slipway-gateway' } };
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: metadata(settings, { annotations: {} }),
    spec: {
      podSelector: { matchLabels: selector(settings) },
      policyTypes: ['Ingress'],
      ingress: [{ from: [{ podSelector: gateway }], ports: [{ protocol: 'TCP', port: 'http1' }] }],
    },
  };
}

function ingress(settings: ManifestSettings, host: string): JsonObject {
  const backend = { service: { name: settings.name, port: { name: 'http' } } };
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: metadata(settings, { annotations: {} }),
    spec: { rules: [{ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }] },
  };
}
