import { readFileSync } from 'node:fs';

const read = (name: string) => readFileSync(`scripts/fixtures/${name}`, 'utf8');
const project = read('pyproject.toml');

/** Requirements of a list in pyproject.toml. */
function listed(name: string): string[] {
  const [, list] = new RegExp(`^${name} = \\[([^\\]]*)\\]`, 'm').exec(project)!;
  return [...list!.matchAll(/"([^"]+)"/g)].map(([, requirement]) => requirement!);
}

describe.each(['v4', 'v5'])('the lock of %s', (version) => {
  const locked = read(`${version}.lock.txt`).trim().split('\n');

  test('pins everything', () => {
    expect(locked.filter((line) => !/^[a-z0-9.-]+==[\w.+]+$/.test(line))).toEqual([]);
  });

  test('holds what pyproject.toml asks for, at its versions', () => {
    const asked = [...listed('dependencies'), ...listed(version)];
    expect(asked.length).toBeGreaterThan(8);
    const missing = asked.filter((requirement) =>
      requirement.includes('==')
        ? !locked.includes(requirement)
        : !locked.some((line) => line.startsWith(`${requirement}==`)),
    );
    expect(missing).toEqual([]);
  });

  test('has no torchvision, with which Python takes other image processors', () => {
    expect(locked.filter((line) => line.startsWith('torchvision'))).toEqual([]);
  });
});
