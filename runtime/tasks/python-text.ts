/** What Python's str.strip() takes off; JavaScript's trim() differs. */
const BLANKS = '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const LEADING = new RegExp(`^${BLANKS}+`, 'u');
const BLANK = new RegExp(BLANKS, 'u');

export function strip(text: string): string {
  const begun = text.replace(LEADING, '');
  let end = begun.length;
  while (end > 0 && BLANK.test(begun[end - 1]!)) end--;
  return begun.slice(0, end);
}

/** Python's `text.split()`. */
export function words(text: string): string[] {
  return text.split(new RegExp(`${BLANKS}+`, 'u')).filter((word) => word !== '');
}

/**
 * Python's `template.format(value)` for templates of one value: `{}` once or `{0}` any number of times, `{{` and `}}`
 * for braces. Undefined for a template that Python refuses, and for format specifications.
 */
export function formatOne(template: string): ((value: string) => string) | undefined {
  const parts = template.split(/(\{\{|\}\}|\{0?\})/);
  const fields = parts.filter((part) => part === '{}' || part === '{0}');
  const literal = parts.every((part, i) => i % 2 === 1 || !/[{}]/.test(part));
  if (!literal || (fields.includes('{}') && fields.length > 1)) return undefined;
  const texts = parts.map((part) => (part === '{{' || part === '}}' ? part[0]! : part));
  return (value) =>
    texts
      .map((text, i) => (i % 2 === 1 && (parts[i] === '{}' || parts[i] === '{0}') ? value : text))
      .join('');
}
