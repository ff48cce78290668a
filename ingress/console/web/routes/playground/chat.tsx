/** Chat: several turns with streamed answers, attached files, a system prompt and parameters. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { useModels, useRequestSchema } from "../../api/catalogue.ts";
import { Code } from "../../parts/code.tsx";
import { WordDiff } from "../../parts/diff.tsx";
import { useDraft } from "../../parts/draft.ts";
import { UploadButton } from "../../parts/file-field.tsx";
import { Button, TextField } from "../../parts/form.tsx";
import { Icon } from "../../parts/icon.tsx";
import { modelHint } from "../../parts/price.ts";
import { type Draft, readGroup, type Schema } from "../../api/schema.ts";
import { SchemaFields } from "../../parts/schema-form.tsx";
import { Empty } from "../../parts/table.tsx";
import { Status } from "../../parts/values.tsx";
import { snippetsOf } from "./code.ts";
import { type Attachment, type Conversation, type Turn, useConversation } from "./conversation.ts";
import { EstimateLine } from "./estimate.tsx";
import { FaultBody, Receipt } from "./result.tsx";

/** Parameters of a chat that have a field. All others are members of the JSON text. */
const FIELDS = [
  "temperature",
  "max_completion_tokens",
  "top_p",
  "seed",
  "frequency_penalty",
  "presence_penalty",
] as const;
const EFFORTS = ["none", "minimal", "low", "medium", "high"];

export function Chat({
  model,
  onModel,
}: {
  readonly model: string;
  readonly onModel: (model: string) => void;
}): JSX.Element {
  const models = useModels();
  const request = useRequestSchema("ChatCompletionRequest");
  const [system, setSystem] = useState("");
  const [draft, setDraft] = useState<Draft>({});
  const [others, setOthers] = useState("");
  const [text, setText] = useState("");
  const [files, setFiles] = useState<readonly Attachment[]>([]);
  const conversation = useConversation();
  const settings = JSON.stringify([system, others, draft]);
  /** Settings of the last call. */
  const [sent, setSent] = useState(settings);
  useDraft(text !== "" || files.length > 0 || settings !== sent);
  const entry = models.data?.find(({ id }) => id === model);
  const schema = chatSchema(request.data);
  const { params, problem } = readParams(schema, draft, others);
  const { turns, isRunning } = conversation;
  const messages = conversation.messagesWith(system, text === "" && files.length === 0 ? undefined : { text, files });
  const body = { model, messages, ...params };
  const blocked = problem ?? (text.trim() === "" ? "Type a message." : undefined);
  /** Sends the text of the field, which may be newer than the drawn one. */
  const send = (typed: string): void => {
    if (problem !== undefined || typed.trim() === "" || isRunning) return;
    const next = { text: typed, files };
    void conversation.send(next, { ...body, messages: conversation.messagesWith(system, next) });
    setSent(settings);
    setText("");
    setFiles([]);
  };
  const repeat = (): void => {
    if (problem !== undefined || isRunning) return;
    setSent(settings);
    void conversation.repeat({ ...body, messages: conversation.messagesWith(system, undefined) });
  };
  return (
    <div class="pgcols">
      <form class="panel" aria-label="Settings" onSubmit={(event) => event.preventDefault()}>
        <div class="pad stack">
          <TextField
            label="Model"
            value={model}
            onInput={onModel}
            suggestions={models.data?.filter(({ _svc }) => _svc.supports_chat).map(({ id }) => id) ?? []}
            hint={modelHint(models.data, entry)}
          />
          <TextField label="System prompt" isOptional rows={3} value={system} onInput={setSystem} />
          <SchemaFields
            schema={schema}
            draft={draft}
            onInput={(changes) => setDraft({ ...draft, ...changes })}
            fault={turns.at(-1)?.fault}
            first={["temperature", "max_completion_tokens"]}
          />
          <details>
            <summary class="soft">Other parameters as JSON</summary>
            <TextField
              label="Parameters to add to the request"
              rows={4}
              value={others}
              onInput={setOthers}
              placeholder={'{"tools": []}'}
            />
          </details>
        </div>
        <footer>
          <EstimateLine model={model} body={blocked === undefined ? body : undefined} />
        </footer>
      </form>
      <div class="stack">
        <section class="panel chat" aria-label="Conversation">
          {turns.length === 0 ? (
            <div class="empty">
              <Empty title="No messages yet">
                <p>Type a message. The answer appears here while the model writes it, with its charge.</p>
              </Empty>
            </div>
          ) : (
            <ol class="turns">
              {turns.map((turn, place) => (
                <TurnRow
                  key={place}
                  turn={turn}
                  {...(place === turns.length - 1 && !isRunning ? { repeat: { run: repeat, model } } : {})}
                />
              ))}
            </ol>
          )}
          <Composer
            conversation={conversation}
            text={text}
            files={files}
            onText={setText}
            onFiles={setFiles}
            blocked={blocked}
            send={send}
          />
        </section>
        <Code variants={snippetsOf("/v1/chat/completions", body)} />
      </div>
    </div>
  );
}

/** Returns the parameters of the call, and why they cannot be read. */
function readParams(
  schema: Schema,
  draft: Draft,
  others: string,
): { readonly params: Record<string, unknown>; readonly problem?: string } {
  try {
    return {
      params: { ...readGroup(schema, draft, ""), ...(JSON.parse(others.trim() || "{}") as Record<string, unknown>) },
    };
  } catch (error) {
    return { params: {}, problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Field of the next message, with attached files. */
function Composer({
  conversation: { turns, isRunning, stop, clear },
  text,
  files,
  onText,
  onFiles,
  blocked,
  send,
}: {
  readonly conversation: Conversation;
  readonly text: string;
  readonly files: readonly Attachment[];
  readonly onText: (text: string) => void;
  readonly onFiles: (files: readonly Attachment[]) => void;
  readonly blocked: string | undefined;
  readonly send: (text: string) => void;
}): JSX.Element {
  return (
    <form
      class="pad composer"
      onSubmit={(event) => {
        event.preventDefault();
        send(text);
      }}
    >
      <Attachments files={files} onChange={onFiles} />
      <textarea
        class="area"
        rows={2}
        aria-label="Message"
        placeholder="Message. Enter sends, Shift and Enter starts a line."
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          send(event.currentTarget.value);
        }}
      />
      <div class="row wrap">
        <UploadButton
          label="Attach file"
          onStored={({ id, filename }) => onFiles([...files, { id, name: filename }])}
        />
        {turns.length === 0 ? null : (
          <Button kind="quiet" onClick={clear}>
            Clear conversation
          </Button>
        )}
        <span class="push">
          {isRunning ? (
            // A key of its own: a second click on it must not reach the button that replaces it.
            <Button key="stop" icon="stop" onClick={stop}>
              Stop
            </Button>
          ) : (
            <Button key="send" kind="primary" icon="send" submit blocked={blocked}>
              Send
            </Button>
          )}
        </span>
      </div>
    </form>
  );
}

function chatSchema(request: Schema | undefined): Schema {
  const fields = FIELDS.flatMap((name) => {
    const member = request?.properties?.[name];
    return member === undefined ? [] : [[name, member] as const];
  });
  const effort = request?.properties?.["reasoning_effort"];
  const efforts = effort === undefined ? {} : { reasoning_effort: { ...effort, type: "string", suggestions: EFFORTS } };
  return { type: "object", properties: { ...Object.fromEntries(fields), ...efforts } };
}

function Attachments({
  files,
  onChange,
}: {
  readonly files: readonly Attachment[];
  readonly onChange: (files: readonly Attachment[]) => void;
}): JSX.Element | null {
  if (files.length === 0) return null;
  return (
    <div class="filters">
      {files.map(({ id, name }) => (
        <span key={id} class="chip" title={id}>
          <span class="cut">{name}</span>
          <button
            type="button"
            class="x"
            aria-label={`Remove ${name}`}
            onClick={() => onChange(files.filter((one) => one.id !== id))}
          >
            <Icon name="x" small />
          </button>
        </span>
      ))}
    </div>
  );
}

/** A message and its answer. */
function TurnRow({
  turn: { text, files, model, answer, before, reasoning, status, fault, credits, tokens, id },
  repeat,
}: {
  readonly turn: Turn;
  /** Asks a model for another answer to the last message. */
  readonly repeat?: { readonly run: () => void; readonly model: string };
}): JSX.Element {
  return (
    <li class="turn">
      <div class="ask">
        <span class="sr">You: </span>
        <p class="reply">{text}</p>
        {files.length === 0 ? null : <p class="hint">{files.map(({ name }) => name).join(", ")}</p>}
      </div>
      <div class="answer" aria-busy={status === "running"}>
        {reasoning === "" ? null : (
          <details>
            <summary class="soft">Reasoning</summary>
            <p class="reply soft">{reasoning}</p>
          </details>
        )}
        <p class="reply">
          <span class="sr">Model: </span>
          {answer}
          {status === "running" ? <span class="caret" /> : null}
        </p>
        {fault === undefined ? null : <FaultBody fault={fault} />}
        {status === "running" ? null : (
          <div class="row wrap hint turn-foot">
            {status === "succeeded" ? null : <Status of={status} code={fault?.status === 0 ? null : fault?.status} />}
            {tokens === null ? null : <span>{tokens}</span>}
            <Receipt credits={credits} id={id} />
            {repeat === undefined ? null : (
              <Button small kind="quiet" icon="send" onClick={repeat.run}>
                Answer again with {repeat.model}
              </Button>
            )}
          </div>
        )}
        {before === undefined || status === "running" ? null : (
          <details>
            <summary class="soft">
              Compare with the answer before: {before.model} → {model}
            </summary>
            <WordDiff from={before.answer} to={answer} same="The answers are equal." />
          </details>
        )}
      </div>
    </li>
  );
}
