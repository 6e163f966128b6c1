import type { Answer } from '../api/run.js';
import { Medium } from '../results/medium.js';
import { Composer } from './composer.js';
import { type Message, mediaOf, textOf } from './messages.js';

interface ConversationProps {
  messages: readonly Message[];
  /** Kind of media that messages may hold. */
  blocks: string | undefined;
  /** The answer that is being written. */
  answer: Answer | undefined;
  isRunning: boolean;
  onMessages(messages: Message[]): void;
  /** Asks the model to answer these. */
  onSend(messages: Message[]): void;
  onStop(): void;
}

/** A conversation: each message can be edited, which forgets those behind it; the last answer can be asked for again. */
export function Conversation(props: ConversationProps) {
  const { messages, blocks, answer, isRunning, onMessages, onSend, onStop } = props;
  const last = messages.at(-1);
  const edit = (at: number) => {
    const text = window.prompt('The message', textOf(messages[at]!));
    if (text === null) return;
    const edited = { ...messages[at]!, content: text };
    const kept = [...messages.slice(0, at), edited];
    if (edited.role === 'assistant') onMessages(kept);
    else onSend(kept);
  };
  return (
    <div class="conversation">
      <ol aria-label="conversation">
        {messages.map((message, at) => (
          <li key={at} class={`message ${message.role}`}>
            <span class="role">{message.role}</span>
            {mediaOf(message).map(({ kind, source }) => (
              <Medium key={source.slice(-40)} kind={kind} source={source} />
            ))}
            <p>{textOf(message)}</p>
            {!isRunning && (
              <button type="button" class="quiet" onClick={() => edit(at)}>
                Edit
              </button>
            )}
          </li>
        ))}
        {isRunning && (
          <li class="message assistant" aria-live="polite" aria-busy="true">
            <span class="role">assistant</span>
            <p>{typeof answer?.output === 'string' ? answer.output : '…'}</p>
          </li>
        )}
      </ol>
      {!isRunning && last?.role === 'assistant' && (
        <div class="row">
          <button type="button" class="quiet" onClick={() => onSend(messages.slice(0, -1))}>
            Regenerate
          </button>
          <button type="button" class="quiet" onClick={() => onMessages([])}>
            New conversation
          </button>
        </div>
      )}
      {!isRunning && last?.role === 'user' && (
        <div class="row">
          <button type="button" class="quiet" onClick={() => onSend([...messages])}>
            Ask again
          </button>
        </div>
      )}
      <Composer
        blocks={blocks}
        isRunning={isRunning}
        onSend={(message) => onSend([...messages, message])}
        onStop={onStop}
      />
    </div>
  );
}
