import { useLayoutEffect, useState } from 'preact/hooks';
import type { Described } from './api/describe.js';
import { Conversation } from './conversation/conversation.js';
import { isShareable, type Message, textOf } from './conversation/messages.js';
import { KeyField } from './key-field.js';
import { Fields } from './form/field.js';
import { Params } from './form/params.js';
import { bodyOf, firstValues, missingFields, toHash } from './form/values.js';
import { Outcome } from './outcome.js';
import { useCall } from './use-call.js';
import type { Answer } from './api/run.js';

/** The form of a model with its answers. What was filled in stays in the address, so that a link repeats the call. */
export function Playground({
  described,
  secret,
  onSecret,
}: {
  described: Described;
  secret: string;
  onSecret(key: string): void;
}) {
  const [values, setValues] = useState(() => firstValues(described, location.hash));
  const call = useCall(described, secret);
  const isChat = described.fields.some(({ name }) => name === 'messages');
  const messages = (values.input['messages'] ?? []) as Message[];
  // Before the page is painted: whoever copies the address or reloads has what is on the screen.
  useLayoutEffect(() => {
    const hash = isShareable(messages) ? toHash(values) : '';
    history.replaceState(null, '', hash || location.pathname);
  }, [values]);
  const body = bodyOf(values);
  const missing = missingFields(described, body);
  const setInput = (changed: object) =>
    setValues((before) => ({ ...before, input: { ...before.input, ...changed } }));
  const send = async (next: Message[]) => {
    setInput({ messages: next });
    const answer = await call.start({ ...body, messages: next });
    if (answer) setInput({ messages: [...next, assistantMessage(answer)] });
  };
  return (
    <div class="columns">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!isChat && missing.length === 0 && !call.isRunning) void call.start(body);
        }}
      >
        {(call.needsKey || secret !== '') && <KeyField value={secret} onValue={onSecret} />}
        {isChat ? (
          <Conversation
            messages={messages}
            blocks={described.blocks}
            answer={call.answer}
            isRunning={call.isRunning}
            onMessages={(next) => setInput({ messages: next })}
            onSend={(next) => void send(next)}
            onStop={call.stop}
          />
        ) : (
          <Fields
            fields={described.fields}
            modality={described.modality}
            input={values.input}
            onInput={setInput}
          />
        )}
        <Params
          fields={described.params}
          params={values.params}
          onParams={(params) => setValues((before) => ({ ...before, params }))}
        />
        {!isChat && (
          <div class="row">
            {call.isRunning ? (
              <button type="button" class="main" onClick={call.stop}>
                Stop
              </button>
            ) : (
              <button type="submit" class="main" disabled={missing.length > 0}>
                Run
              </button>
            )}
            {missing.length > 0 && <small>needs {missing.join(', ')}</small>}
          </div>
        )}
      </form>
      <Outcome
        described={described}
        call={call}
        body={call.sent ?? body}
        isChat={isChat}
        hasKey={secret !== ''}
      />
    </div>
  );
}

function assistantMessage({ output }: Answer): Message {
  const found = Array.isArray(output) ? (output[0] as unknown) : output;
  if (typeof found === 'string') return { role: 'assistant', content: found };
  return { role: 'assistant', content: textOf(found as Message) };
}
