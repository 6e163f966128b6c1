import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The text below a heading of the second level of a changelog; undefined without the heading. */
export function sectionOf(changelog, heading) {
  const sections = changelog.split(/^## /m).slice(1);
  const found = sections.find((section) => /^\[?([^\]\s]+)/.exec(section)?.[1] === heading);
  return found?.split('\n').slice(1).join('\n').trim();
}

/** What keeps a version from being released, a line each. */
export function findProblems({ version, isRehearsal }) {
  const lock = JSON.parse(readFileSync('npm-shrinkwrap.json', 'utf8'));
  const own = JSON.parse(readFileSync('package.json', 'utf8'));
  const changes = sectionOf(readFileSync('CHANGELOG.md', 'utf8'), isRehearsal ? 'Unreleased' : version);
  const status = isRehearsal ? '' : execFileSync('git', ['status', '--porcelain'], { encoding: 'utf8' });
  return [
    ...(lock.version === version ? [] : [`npm-shrinkwrap.json has version ${lock.version}: run npm install`]),
    ...(own.private ? ['package.json is private'] : []),
    ...(changes ? [] : [`CHANGELOG.md says nothing of ${isRehearsal ? 'what is unreleased' : version}`]),
    ...(status === '' ? [] : ['there are changes that are not committed']),
  ];
}
