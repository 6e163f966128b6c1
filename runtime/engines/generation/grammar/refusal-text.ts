/** Longest text of a reason. */
const MAX_LENGTH = 300;

/** Why llguidance has refused a grammar, in a line without its internal state. */
export function refusalText(message: string): string {
  const keys = /^Unimplemented keys: \[(.*)\]$/s.exec(message)?.[1];
  if (keys !== undefined) return `${keys.replaceAll('"', '')} is not supported`;
  if (message.includes('NoExtensionBias')) return 'no text fits it; a rule may refer to nothing but itself';
  const line = message.split('<state>', 1)[0]!.replaceAll(/\s+/g, ' ').trim();
  if (line === '') return 'can’t be followed';
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH)}…` : line;
}
