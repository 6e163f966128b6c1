import { existsSync } from 'node:fs';
import { engineDevices, gpuSettings } from '../../../../builder/docker/dockerode/gpus.js';

const engine = (Runtimes?: object) => ({ info: async () => ({ ...(Runtimes && { Runtimes }) }) });
const NVIDIA = { DeviceRequests: [{ Driver: 'nvidia', Count: -1, Capabilities: [['gpu']] }] };

test('an engine with NVIDIA’s toolkit computes images for either kind of GPU', () => {
  expect(engineDevices({ Runtimes: { nvidia: {}, runc: {} } })).toEqual(['cpu', 'cuda', 'vulkan']);
});

test('one without it computes those for Vulkan where the kernel has files of GPUs', () => {
  const others = existsSync('/dev/dri') ? ['cpu', 'vulkan'] : ['cpu'];
  expect(engineDevices({ Runtimes: { runc: {} } })).toEqual(others);
  expect(engineDevices({})).toEqual(others);
});

test('containers are given what images for their device open', async () => {
  expect(await gpuSettings(engine({ nvidia: {} }), 'cpu')).toEqual({});
  expect(await gpuSettings(engine({ nvidia: {} }), 'cuda')).toEqual(NVIDIA);
  expect(await gpuSettings(engine({ nvidia: {} }), 'vulkan')).toEqual(NVIDIA);
  // The engine's own error names the toolkit.
  expect(await gpuSettings(engine(), 'cuda')).toEqual(NVIDIA);
  expect(await gpuSettings(engine({ runc: {} }), 'vulkan')).toEqual({
    Devices: [{ PathOnHost: '/dev/dri', PathInContainer: '/dev/dri', CgroupPermissions: 'rw' }],
  });
});
