import { declaredWord } from './declared/declared.js';
import { probeTemplate, type TemplateFacts } from './probe/probe.js';

/** A chat template: its texts, and what it writes of a conversation. */
interface Rendered {
  readonly sources: string;
  render(
    messages: never,
    options: { variables: Record<string, unknown>; continues: boolean; asks: boolean },
  ): string;
}

/** How a model calls and thinks: by its repository's own word, else by its chat template. Never throws. */
export const factsOf = (
  template: Rendered,
  tokenizerConfig: Readonly<Record<string, unknown>>,
): TemplateFacts =>
  probeTemplate({
    source: template.sources,
    declared: declaredWord(tokenizerConfig),
    render: (messages, variables, asks) =>
      template.render(messages as never, { variables, continues: false, asks }),
  });
