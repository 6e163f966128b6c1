/**
 * Splits a module: declarations go to files of their own, together with what only they use. What several of them use stays
 * where it was, or goes to `shared`; every import of the module follows.
 * Needs the JavaScript interface of TypeScript 5, which version 7 lacks: TYPESCRIPT is its lib/typescript.js.
 * Usage: node scripts/codemods/split-module.mjs SPLITS.json   ({"module": {"new/file": ["name", …], "shared": "new/file"}})
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';

const { default: ts } = await import(process.env.TYPESCRIPT);

const git = (...args) => execFileSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 26 });
const sources = () =>
  git('ls-files')
    .split('\n')
    .filter((file) => /\.(?:ts|tsx)$/.test(file));
const parse = (file) => ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
const resolved = (from, specifier) => normalize(join(dirname(from), specifier)).replace(/\.js$/, '.ts');

function specifierTo(from, to) {
  const path = relative(dirname(from), to).replace(/\.ts$/, '.js');
  return path.startsWith('.') ? path : `./${path}`;
}

/** Names that a node reads, but for those of properties. */
function namesIn(node) {
  const names = new Set();
  const visit = (each) => {
    const { parent } = each;
    const isProperty =
      parent &&
      ((ts.isPropertyAccessExpression(parent) && parent.name === each) ||
        ((ts.isPropertyAssignment(parent) ||
          ts.isPropertySignature(parent) ||
          ts.isMethodDeclaration(parent)) &&
          parent.name === each) ||
        (ts.isBindingElement(parent) && parent.propertyName === each) ||
        (ts.isQualifiedName(parent) && parent.right === each));
    if (ts.isIdentifier(each) && !isProperty) names.add(each.text);
    ts.forEachChild(each, visit);
  };
  visit(node);
  return names;
}

function declaredNames(statement) {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap(({ name }) =>
      ts.isIdentifier(name) ? [name.text] : name.elements.map((element) => element.name.text),
    );
  return statement.name ? [statement.name.text] : [];
}

const isExported = (statement) =>
  statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false;

/** The import of each name: module, whether its type alone is imported, and its name there. */
function importsOf(source) {
  const found = new Map();
  for (const statement of source.statements.filter(ts.isImportDeclaration)) {
    const clause = statement.importClause;
    const bindings = clause?.namedBindings;
    if (bindings && ts.isNamedImports(bindings))
      for (const element of bindings.elements)
        found.set(element.name.text, {
          module: statement.moduleSpecifier.text,
          text: element.getText().replace(/^type /, ''),
          isType: clause.isTypeOnly || element.isTypeOnly,
        });
    else if (bindings)
      found.set(bindings.name.text, {
        module: statement.moduleSpecifier.text,
        text: `* as ${bindings.name.text}`,
        isType: clause.isTypeOnly,
        isNamespace: true,
      });
    else if (clause?.name)
      found.set(clause.name.text, {
        module: statement.moduleSpecifier.text,
        text: clause.name.text,
        isType: clause.isTypeOnly,
        isDefault: true,
      });
  }
  return found;
}

function importText(entries) {
  const byModule = groupBy(
    entries,
    ({ module, isNamespace, isDefault }) => `${module} ${isNamespace ?? ''} ${isDefault ?? ''}`,
  );
  return [...byModule.values()]
    .map((group) => {
      const { module, isNamespace, isDefault } = group[0];
      const onlyTypes = group.every(({ isType }) => isType);
      const names = group.map(({ text, isType }) => (isType && !onlyTypes ? `type ${text}` : text));
      const clause = isNamespace || isDefault ? names[0] : `{ ${names.join(', ')} }`;
      return `import ${onlyTypes ? 'type ' : ''}${clause} from '${module}';`;
    })
    .join('\n');
}

function split(file, { shared = file, ...targets }) {
  const source = parse(file);
  const statements = source.statements.filter((statement) => !ts.isImportDeclaration(statement));
  const byName = new Map(
    statements.flatMap((statement) => declaredNames(statement).map((name) => [name, statement])),
  );
  const uses = new Map(
    statements.map((statement) => [
      statement,
      [...namesIn(statement)].filter((name) => byName.has(name)).map((name) => byName.get(name)),
    ]),
  );
  const closure = (roots) => {
    const seen = new Set();
    const add = (statement) => {
      if (seen.has(statement)) return;
      seen.add(statement);
      uses.get(statement).forEach(add);
    };
    roots.forEach(add);
    return seen;
  };
  const reach = Object.entries(targets).map(([to, names]) => [
    to,
    closure(names.map((name) => byName.get(name) ?? fail(`${file} declares no ${name}`))),
  ]);
  const named = new Map(
    Object.entries(targets).flatMap(([to, names]) => names.map((name) => [byName.get(name), to])),
  );
  const rest = statements.filter(
    (statement) => !named.has(statement) && !reach.some(([, seen]) => seen.has(statement)),
  );
  const placeOf = (statement) => {
    if (named.has(statement)) return named.get(statement);
    const users = reach.filter(([, seen]) => seen.has(statement));
    const isUsedByRest = rest.some((each) => closure([each]).has(statement));
    return users.length === 1 && !isUsedByRest ? users[0][0] : shared;
  };
  const place = new Map(statements.map((statement) => [statement, placeOf(statement)]));
  const imports = importsOf(source);
  for (const to of new Set(place.values())) {
    const own = statements.filter((statement) => place.get(statement) === to);
    const names = new Set(own.flatMap((statement) => [...namesIn(statement)]));
    const outside = [...imports]
      .filter(([name]) => names.has(name))
      .map(([, entry]) => ({
        ...entry,
        module: entry.module.startsWith('.') ? specifierTo(to, resolved(file, entry.module)) : entry.module,
      }));
    const inside = [...byName]
      .filter(([name, statement]) => names.has(name) && place.get(statement) !== to)
      .map(([name, statement]) => ({
        module: specifierTo(to, place.get(statement)),
        text: name,
        isType: ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement),
      }));
    const needed = (statement) =>
      statements.some((other) => place.get(other) !== to && uses.get(other).includes(statement));
    const body = own.map((statement) => {
      const text = statement.getFullText(source).replace(/^\n+/, '');
      if (isExported(statement) || !needed(statement)) return text;
      const start = statement.getStart(source) - statement.getFullStart();
      const full = statement.getFullText(source);
      return `${full.slice(0, start)}export ${full.slice(start)}`.replace(/^\n+/, '');
    });
    writeFileSync(to, `${importText([...outside, ...inside])}\n\n${body.join('\n\n')}\n`);
    git('add', to);
  }
  const places = new Map([...byName].map(([name, statement]) => [name, place.get(statement)]));
  if (![...place.values()].includes(file)) {
    git('rm', '-q', '--cached', file);
    rmSync(file);
  }
  for (const user of sources()) redirect(user, file, places);
}

/** Imports of the module follow its declarations. */
function redirect(user, file, places) {
  if (user === file) return;
  let text;
  try {
    text = readFileSync(user, 'utf8');
  } catch {
    return;
  }
  const source = ts.createSourceFile(user, text, ts.ScriptTarget.Latest, true);
  for (const statement of source.statements
    .filter((each) => ts.isImportDeclaration(each) || ts.isExportDeclaration(each))
    .toReversed()) {
    const specifier = statement.moduleSpecifier?.text;
    if (!specifier?.startsWith('.') || resolved(user, specifier) !== file) continue;
    const isExport = ts.isExportDeclaration(statement);
    const elements = (isExport ? statement.exportClause : statement.importClause.namedBindings).elements;
    const typeOnly = isExport ? statement.isTypeOnly : statement.importClause.isTypeOnly;
    const groups = groupBy(elements, (element) => places.get((element.propertyName ?? element.name).text));
    const lines = [...groups].map(
      ([to, group]) =>
        `${isExport ? 'export' : 'import'} ${typeOnly ? 'type ' : ''}{ ${group.map((element) => element.getText()).join(', ')} } from '${specifierTo(user, to)}';`,
    );
    text = text.slice(0, statement.getStart(source)) + lines.join('\n') + text.slice(statement.getEnd());
  }
  writeFileSync(user, text);
}

function groupBy(items, keyOf) {
  const groups = new Map();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

function fail(message) {
  throw new Error(message);
}

for (const [file, targets] of Object.entries(JSON.parse(readFileSync(process.argv[2], 'utf8'))))
  split(file, targets);
