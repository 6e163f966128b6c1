import { imageName, runtimeImageName, shortCommit } from '../../../../builder/images/names.js';

const commit = 'a'.repeat(40);
const named = (id: string, namespace = 'slipway') => imageName({ id, commit }, namespace);

describe('image names', () => {
  test('id in lower case, the slash as an underscore, latest before the commit', () => {
    expect(named('Org/Model-Name')).toEqual({
      repository: 'slipway/org_model-name',
      folder: 'org_model-name',
      references: ['slipway/org_model-name:latest', 'slipway/org_model-name:aaaaaaaaaaaa'],
    });
  });

  test.each(['gpt2', 'a/b.c', 'a/b_c', 'a/_b', 'x/Y1'])('%s has a legal name', (id) => {
    expect(named(id).repository).toMatch(/^slipway\//);
  });

  test.each(['org/-model', 'org-/model', 'org/model_', 'org/.model', 'org/a..b', 'org/a___b'])(
    '%s is refused, with the name and a way out',
    (id) => {
      expect(() => named(id)).toThrow(expect.objectContaining({ exit: 'refused' }));
      expect(() => named(id)).toThrow(/gives no legal image name: "slipway\//);
    },
  );

  test('a namespace may hold a registry and its port', () => {
    expect(named('a/b', 'Registry.example:5000/team/x').repository).toBe('Registry.example:5000/team/x/a_b');
  });

  test.each(['', 'UPPER', 'a b', '../x', 'a/', '-a'])('the namespace "%s" is wrong usage', (namespace) => {
    expect(() => named('a/b', namespace)).toThrow(expect.objectContaining({ exit: 'usage' }));
  });

  test('more than 255 characters are refused', () => {
    expect(() => named(`${'o'.repeat(96)}/${'m'.repeat(96)}`, 'n'.repeat(100))).toThrow(
      /no legal image name/,
    );
  });

  test('the state of a local folder is kept whole', () => {
    expect(shortCommit('local-0123456789ab')).toBe('local-0123456789ab');
  });

  test('a runtime image is named by what it is and holds', () => {
    const key = {
      namespace: 'slipway',
      profile: 'text',
      device: 'cpu',
      version: '1.2.3',
      digest: 'f'.repeat(64),
    };
    expect(runtimeImageName(key)).toBe('slipway/runtime:text-cpu-1.2.3-ffffffffffff');
  });
});
