import { readFileSync } from 'node:fs';
import { ensureModelImage } from '../../../../builder/images/model-image.js';
import { planModelImage, renderModelContext } from '../../../../builder/images/model-plan.js';
import type { ModelSpec } from '../../../../runtime/core/spec.js';
import { fakeDocker } from '../../../fakes/docker.js';
import { IMAGE_OPTIONS, sampleSpec } from '../fixtures.js';

const template = readFileSync('templates/model.Dockerfile.eta', 'utf8');
const onLine = () => undefined;

function buildOf(changes: Partial<ModelSpec> = {}, platform: 'linux/amd64' | 'linux/arm64' = 'linux/amd64') {
  const plan = planModelImage(sampleSpec(changes), 'slipway/runtime:x', { ...IMAGE_OPTIONS, platform });
  return {
    plan,
    context: renderModelContext(plan, template),
    weights: [{ path: 'weights/w', content: 'w' }],
  };
}

test('builds with both tags and all members, at the root of the context', async () => {
  const docker = fakeDocker();
  expect(await ensureModelImage(buildOf(), { docker, onLine })).toMatchObject({
    built: true,
    id: 'sha256:1',
  });
  const [build] = docker.builds;
  expect(build!.references).toEqual(['slipway/org_model-name:latest', 'slipway/org_model-name:0123456789ab']);
  expect([...build!.members.keys()]).toEqual(['Dockerfile', 'model.json', 'weights/', 'weights/w']);
  expect(build!.platform).toBeUndefined();
});

test('the same inputs build nothing again and give back a lost tag', async () => {
  const docker = fakeDocker();
  await ensureModelImage(buildOf(), { docker, onLine });
  docker.images.delete('slipway/org_model-name:0123456789ab');
  expect(await ensureModelImage(buildOf(), { docker, onLine })).toMatchObject({
    built: false,
    id: 'sha256:1',
  });
  expect(docker.builds).toHaveLength(1);
  expect(docker.images.has('slipway/org_model-name:0123456789ab')).toBe(true);
});

test('other inputs build anew', async () => {
  const docker = fakeDocker();
  await ensureModelImage(buildOf(), { docker, onLine });
  expect(await ensureModelImage(buildOf({ license: 'mit' }), { docker, onLine })).toMatchObject({
    built: true,
  });
});

test('the platform is named only where it is not the own one of the engine', async () => {
  const docker = fakeDocker('linux/amd64');
  await ensureModelImage(buildOf({}, 'linux/arm64'), { docker, onLine });
  expect(docker.builds[0]!.platform).toBe('linux/arm64');
});

test('the image of another model whose name comes out the same is left alone', async () => {
  const docker = fakeDocker();
  await ensureModelImage(buildOf(), { docker, onLine });
  const other = ensureModelImage(buildOf({ id: 'org/model-name' }), { docker, onLine });
  await expect(other).rejects.toThrow('is the image of Org/Model-Name');
  expect(docker.builds).toHaveLength(1);
});
