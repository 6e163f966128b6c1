import type { ToolFunction } from '../../../core/tools.js';

/** What a model whose template knows no tools is told of them. Its answers are read by formats/generic.ts. */
export function genericPrompt(functions: Iterable<ToolFunction>, mustCall: boolean): string {
  const described = [...functions].map(({ name, description, parameters }) =>
    JSON.stringify({ name, description, parameters }),
  );
  const words = mustCall ? '' : '\nTo answer in words, write: {"response": "…"}';
  return (
    'You can call functions. Each line describes one, with the JSON schema of its arguments:\n' +
    `${described.join('\n')}\n\nWrite one JSON object and nothing else.\n` +
    `To call functions, write: {"tool_calls": [{"name": "…", "arguments": {…}}]}${words}\n` +
    'What they return comes back as {"tool_response": …}.'
  );
}
