import { existsSync, readFileSync } from 'node:fs';

/** Paths in backticks that begin with a folder of the repository; `<task>` and globs stand for any. */
const PATH = /`((?:runtime|builder|gateway|test|scripts|templates|bench|docs)\/[\w./-]+)`/g;

function pathsIn(page: string): string[] {
  return [...readFileSync(page, 'utf8').matchAll(PATH)].map(([, path]) => path!);
}

/** Rooms of a tree that is drawn with two spaces a level: `name/` lines only. */
function treePaths(page: string): string[] {
  const blocks = readFileSync(page, 'utf8').match(/```text\n\w+\/[\s\S]*?```/g) ?? [];
  return blocks.flatMap((block) => {
    const parents: string[] = [];
    return block.split('\n').flatMap((line) => {
      const [, indent, names] = /^( {0,8})((?:[\w-]+(?:\/[\w-]+)*[/.]\w*,? ?)+)/.exec(line) ?? [];
      if (indent === undefined || names === undefined) return [];
      const depth = indent.length / 2;
      const listed = names
        .trim()
        .split(/,? /)
        .map((name) => [...parents.slice(0, depth), name].join(''));
      parents[depth] = names.trim().split(/,? /)[0]!;
      return listed;
    });
  });
}

test('every path that the pages for newcomers name exists', () => {
  const pages = ['docs/architecture.md', 'docs/status.md', 'CONTRIBUTING.md', 'README.md'];
  const paths = pages.flatMap(pathsIn);
  expect(paths.length).toBeGreaterThan(30);
  expect(paths.filter((path) => !existsSync(path))).toEqual([]);
});

test('every room of the drawn trees exists', () => {
  const paths = treePaths('docs/architecture.md');
  expect(paths).toContain('runtime/engines/encoders/text/');
  expect(paths.length).toBeGreaterThan(50);
  expect(paths.filter((path) => !existsSync(path))).toEqual([]);
});
