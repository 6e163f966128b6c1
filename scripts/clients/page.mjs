export const nameOf = ({ client, call }) => `${client}: ${call}`;

function cell(row) {
  if (row.error === null) return 'works';
  return `fails: ${row.error.replaceAll('|', '/')}`;
}

/** docs/clients.md. @param columns by surface, the same calls in the same order */
export function page(columns) {
  const surfaces = Object.keys(columns);
  const [first] = Object.values(columns);
  const clients = [...new Set(first.map(({ client }) => client))];
  const head = `| call | ${surfaces.join(' | ')} |\n| --- |${' --- |'.repeat(surfaces.length)}`;
  const sections = clients.map((client) => {
    const lines = first.flatMap((row, i) => {
      if (row.client !== client) return [];
      return `| ${[row.call, ...surfaces.map((name) => cell(columns[name][i]))].join(' | ')} |`;
    });
    return `## ${client}\n\n${head}\n${lines.join('\n')}\n`;
  });
  return `# Clients\n\nThe published clients as they are (versions: \`scripts/clients/\`), each call against a model of its task: at a container's
address, and at the model's address below a gateway. Made by \`make clients\`, which needs PyPI and npm.\n\n${sections.join('\n')}`;
}
