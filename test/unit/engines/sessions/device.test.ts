import { checkDevice, chooseDevice, DeviceError } from '../../../../runtime/engines/sessions/device.js';

const support = (installed: boolean) => ({ installed, missing: 'there is no CUDA provider here' });

const works = async () => undefined;
const broken = async () => 'CUDA driver version is insufficient';
const notAsked = async () => {
  throw new Error('nobody may open a GPU here');
};

describe('what DEVICE means', () => {
  test.each([
    ['cpu', true, notAsked, { device: 'cpu', reason: 'DEVICE=cpu' }],
    ['auto', true, works, { device: 'cuda', reason: 'a GPU works' }],
    ['auto', true, broken, { device: 'cpu', reason: 'CUDA driver version is insufficient' }],
    ['auto', false, notAsked, { device: 'cpu', reason: expect.stringMatching(/no CUDA provider/) }],
    ['cuda', true, works, { device: 'cuda', reason: 'DEVICE=cuda' }],
  ] as const)('%s, provider installed: %s', async (asked, hasProvider, probe, expected) => {
    expect(await chooseDevice(asked, probe, support(hasProvider))).toEqual(expected);
  });

  test('cuda never falls back', async () => {
    await expect(chooseDevice('cuda', broken, support(true))).rejects.toThrow(
      /no GPU can be used: CUDA driver/,
    );
    await expect(chooseDevice('cuda', notAsked, support(false))).rejects.toThrow(DeviceError);
  });

  test('a missing provider is noticed before anything is opened', () => {
    expect(() => checkDevice('cuda', support(false))).toThrow(/no CUDA provider here/);
    for (const asked of ['auto', 'cpu'] as const)
      expect(() => checkDevice(asked, support(false))).not.toThrow();
    expect(() => checkDevice('cuda', support(true))).not.toThrow();
  });
});
