import { readFileSync } from 'node:fs';
import { findProblems, sectionOf } from '../../../scripts/release/find-problems.mjs';
import { grownSizes } from '../../../scripts/release/grown-sizes.mjs';

const CHANGELOG = `# Changelog

## Unreleased

## [1.2.0] - 2026-01-01

### Added

- A thing.

## 1.1.0

- Another.
`;

test('a section of the changelog is what stands below its heading', () => {
  expect(sectionOf(CHANGELOG, '1.2.0')).toBe('### Added\n\n- A thing.');
  expect(sectionOf(CHANGELOG, '1.1.0')).toBe('- Another.');
  expect(sectionOf(CHANGELOG, 'Unreleased')).toBe('');
  expect(sectionOf(CHANGELOG, '1.0.0')).toBeUndefined();
  expect(sectionOf(CHANGELOG, '1x2.0')).toBeUndefined();
});

test('nothing keeps this tree from being rehearsed', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  expect(findProblems({ version, isRehearsal: true })).toEqual([]);
});

test('a version that neither lock nor changelog has is refused with each reason', () => {
  const problems = findProblems({ version: '99.0.0', isRehearsal: false });
  expect(problems).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^npm-shrinkwrap\.json has version .*: run npm install$/),
      'CHANGELOG.md says nothing of 99.0.0',
    ]),
  );
});

test('an image that has grown beyond the committed sizes is noticed', () => {
  const text = '| text    | linux/amd64 | 50.0 | 98.3 |\n| vision  | linux/arm64 | 40.0 | 90 |\n';
  const image = (profile: string, platform: string, megabytes: number) => ({
    ...{ profile, platform, aboveBase: megabytes * 1e6, archive: 1 },
  });
  expect(grownSizes([image('text', 'linux/amd64', 52)], text)).toEqual([]);
  expect(grownSizes([image('text', 'linux/amd64', 53)], text)[0]).toContain('53.0 MB above its base');
  expect(grownSizes([image('vision', 'linux/amd64', 1)], text)[0]).toContain('it is not there');
});

test('the committed sizes can be read', () => {
  const found = readFileSync('docs/sizes.md', 'utf8').match(/^\| (?:text|vision|media) +\| linux/gm);
  expect(found?.length).toBeGreaterThan(2);
});
