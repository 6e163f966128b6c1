/**
 * Renames words of identifiers and of comments, as the field says them. Files are moved by move-files.mjs.
 * Usage: TYPESCRIPT=typescript.js of version 5, whose parser it takes: node scripts/codemods/field-words.mjs images|positions [--check]
 * With `--check` it only names identifiers whose new name means something else where they stand; names that a browser gives (`Image`) are not among them.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';

const { default: ts } = await import(process.env.TYPESCRIPT);

/** Words inside identifiers, in each case they are written in; phrases of comments; and in which files. */
const RENAMES = {
  images: {
    identifiers: /^(?!test\/fixtures|scripts\/(clients|codemods))/,
    words: [
      ['picture', 'image'],
      ['Picture', 'Image'],
      ['PICTURE', 'IMAGE'],
      ['sound', 'audio'],
      ['Sound', 'Audio'],
      ['SOUND', 'AUDIO'],
      ['film', 'video'],
      ['Film', 'Video'],
    ],
    // Elsewhere in the builder and in the gateway an image is a container's.
    comments: /^(runtime|test|bench|builder\/(plan|export|conformance))\//,
    phrases: [
      [/\b([Aa]) picture/g, '$1n image'],
      [/\bpicture/g, 'image'],
      [/\bPicture/g, 'Image'],
      [/\b([Aa]) sound\b/g, '$1n audio clip'],
      [
        /\b(one|One|each|Each|every|Every|no|No|this|another|long|short|whole|longest|shortest|Longest|other) sound\b/g,
        '$1 audio clip',
      ],
      [/\bsounds\b/g, 'audio clips'],
      [/\bSounds\b/g, 'Audio clips'],
      [/\bsound\b/g, 'audio'],
      [/\bSound\b/g, 'Audio'],
      [/\b([Aa]) film\b/g, '$1 video'],
      [/\bfilm/g, 'video'],
      [/\bFilm/g, 'Video'],
    ],
  },
  positions: {
    identifiers: /^runtime\/(models|engines\/(generation|encoders|processors|diffusion))\//,
    words: [
      ['places', 'positions'],
      ['Places', 'Positions'],
    ],
    comments: /^runtime\/(models\/(?!writer)|engines\/(generation|encoders|processors|diffusion))/,
    phrases: [
      [/(?<!Python |in )\bplaces\b/g, 'positions'],
      [/\bPlaces\b/g, 'Positions'],
      [
        /(?<!\b(?:in|take|takes|took) )\b(their|its|each|this|same|last|first|next|which|own|absolute|A|a|One|one) place\b(?! of)/g,
        '$1 position',
      ],
      [/\b([Tt]urned)(?= by their| by its| by positions| by)/g, 'rotated'],
    ],
  },
};
const { identifiers, words, comments, phrases } = RENAMES[process.argv[2]];
const renamed = (name) => words.reduce((text, [from, to]) => text.replaceAll(from, to), name);

const tracked = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).trim().split('\n');
const sources = tracked.filter(
  (file) => /\.(ts|tsx|mjs)$/.test(file) && !/^(test\/fixtures|scripts\/(clients|codemods))\//.test(file),
);
const options = {
  allowJs: true,
  module: ts.ModuleKind.NodeNext,
  jsx: ts.JsxEmit.Preserve,
  noEmit: true,
  skipLibCheck: true,
};
const program = ts.createProgram(sources, options);
const checker = program.getTypeChecker();
const own = (symbol) =>
  symbol?.declarations?.some((node) =>
    sources.includes(path.relative(process.cwd(), node.getSourceFile().fileName)),
  );

/** Whether the identifier names a member, which other names in scope don't touch. */
const isMember = ({ parent }, node) =>
  (ts.isPropertyAccessExpression(parent) && parent.name === node) ||
  ((ts.isPropertyAssignment(parent) || ts.isPropertySignature(parent) || ts.isMethodSignature(parent)) &&
    parent.name === node) ||
  (ts.isBindingElement(parent) && parent.propertyName === node);

function identifiersOf(source) {
  const found = [];
  const visit = (node) => {
    if (ts.isIdentifier(node) && renamed(node.text) !== node.text) found.push(node);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const reworded = (comment) => phrases.reduce((text, [from, to]) => text.replace(from, to), comment);

function commentsOf(source) {
  const found = new Map();
  const visit = (node) => {
    const ranges = ts.getLeadingCommentRanges(source.text, node.getFullStart()) ?? [];
    for (const range of [...ranges, ...(ts.getTrailingCommentRanges(source.text, node.getFullStart()) ?? [])])
      found.set(range.pos, range);
    for (const child of node.getChildren(source)) if (!ts.isJSDoc(child)) visit(child);
  };
  visit(source);
  return [...found.values()];
}

const MEANINGS = ts.SymbolFlags.Value | ts.SymbolFlags.Type | ts.SymbolFlags.Namespace;
for (const file of sources) {
  const source = program.getSourceFile(file);
  const nodes = identifiers.test(file) ? identifiersOf(source) : [];
  if (process.argv.includes('--check')) {
    for (const node of nodes.filter((each) => !isMember(each, each))) {
      const other = checker.resolveName(renamed(node.text), node, MEANINGS, true);
      const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
      if (own(other)) console.log(`${file}:${line}: ${node.text} -> ${renamed(node.text)}`);
    }
    continue;
  }
  const edits = nodes.map((node) => ({ from: node.getStart(), to: node.getEnd(), text: renamed(node.text) }));
  for (const { pos, end } of comments.test(file) ? commentsOf(source) : [])
    edits.push({ from: pos, to: end, text: reworded(source.text.slice(pos, end)) });
  let { text } = source;
  for (const edit of edits.sort((a, b) => b.from - a.from))
    text = text.slice(0, edit.from) + edit.text + text.slice(edit.to);
  if (text !== source.text) writeFileSync(file, text);
}
