import { readFileSync } from 'node:fs';
import { findProblems, sectionOf } from '../../../scripts/release/find-problems.mjs';

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
