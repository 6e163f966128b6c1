import { containerOptions } from '../../../../builder/commands/run.js';
import { sampleSpec } from '../fixtures.js';

const input = (changes: Partial<Parameters<typeof containerOptions>[0]> = {}) => ({
  image: 'slipway/org_model-name:latest',
  weights: '/cache/models/Org/Model-Name/c',
  prepared: { plan: { spec: sampleSpec(), device: 'cpu' } } as Parameters<
    typeof containerOptions
  >[0]['prepared'],
  flags: { port: 9000, address: '127.0.0.1' },
  key: { KEY: 'k' },
  ...changes,
});

describe('the container of builder run', () => {
  test('gets the KEY, one port of this machine, and this model only', () => {
    expect(containerOptions(input())).toEqual({
      image: 'slipway/org_model-name:latest',
      env: { KEY: 'k' },
      hostPort: 9000,
      hostAddress: '127.0.0.1',
      mounts: { '/cache/models/Org/Model-Name/c': `/server/model/Org/Model-Name/${sampleSpec().commit}` },
      device: 'cpu',
      autoRemove: true,
    });
  });

  test('mounts nothing when the weights are in the image', () => {
    expect(containerOptions(input({ weights: undefined })).mounts).toEqual({});
  });

  test('a key file is mounted and never read here', () => {
    const flags = { port: 1, address: '127.0.0.1', keyFile: '/nonexistent/key' };
    const options = containerOptions(
      input({ weights: undefined, flags, key: { KEY_FILE: '/run/slipway-key' } }),
    );
    expect(options.mounts).toEqual({ '/nonexistent/key': '/run/slipway-key' });
  });

  test('left alone it is kept, so that its log outlives it', () => {
    const flags = { port: 1, address: '127.0.0.1', detach: true };
    expect(containerOptions(input({ flags })).autoRemove).toBe(false);
  });
});
