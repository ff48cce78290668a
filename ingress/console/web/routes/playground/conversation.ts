/** Conversation of the playground: its turns, and the stream of the running answer. It stays in memory only. */
import { useEffect, useRef, useState } from "preact/hooks";

import type { ChatCompletionChunk, ChatCompletionRequest, ErrorEnvelope } from "#schemas/generated/types.ts";
import { ApiFault, send } from "../../api/client.ts";
import { readEvents } from "../../api/events.ts";

/** Stored file that a message contains. */
export interface Attachment {
  readonly id: string;
  readonly name: string;
}

export interface Message {
  readonly text: string;
  readonly files: readonly Attachment[];
}

/** Model and text of an answer. */
export interface Answer {
  readonly model: string;
  readonly answer: string;
}

export interface Turn extends Message, Answer {
  /** Answer to the same message that this one has replaced. */
  readonly before?: Answer;
  readonly reasoning: string;
  readonly status: "running" | "succeeded" | "failed" | "refused" | "cancelled";
  readonly fault?: ApiFault;
  /** Charged credits; null until the stream reports them. A stopped stream reports none. */
  readonly credits: number | null;
  /** Used tokens as text; null until the stream reports them. */
  readonly tokens: string | null;
  /** Id of the request; "" until the response begins. */
  readonly id: string;
}

type Messages = ChatCompletionRequest["messages"];

export interface Conversation {
  readonly turns: readonly Turn[];
  readonly isRunning: boolean;
  /** Returns the messages of a call: system prompt, earlier turns, and the new message. Without a new message, returns the messages of the last call. */
  readonly messagesWith: (system: string, next: Message | undefined) => Messages;
  readonly send: (message: Message, body: ChatCompletionRequest) => Promise<void>;
  /** Sends the last message again. The new answer replaces the last one, which stays for a comparison. */
  readonly repeat: (body: ChatCompletionRequest) => Promise<void>;
  /** Closes the stream, which ends the call. The answer so far stays. */
  readonly stop: () => void;
  readonly clear: () => void;
}

export function useConversation(): Conversation {
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const running = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const change = (controller: AbortController, part: (turn: Turn) => Partial<Turn>): void => {
    if (running.current !== controller) return;
    setTurns((before) =>
      before.map((turn, place) => (place === before.length - 1 ? { ...turn, ...part(turn) } : turn)),
    );
  };
  const sendMessage = async (
    message: Message,
    body: ChatCompletionRequest,
    earlierTurns: readonly Turn[],
    before?: Answer,
  ): Promise<void> => {
    const controller = new AbortController();
    running.current = controller;
    const turn: Turn = {
      text: message.text,
      files: message.files,
      model: body.model,
      ...(before === undefined ? {} : { before }),
      answer: "",
      reasoning: "",
      status: "running",
      credits: null,
      tokens: null,
      id: "",
    };
    setTurns([...earlierTurns, turn]);
    try {
      await stream(body, controller.signal, (part) => change(controller, part));
      change(controller, () => ({ status: "succeeded" }));
    } catch (error) {
      if (controller.signal.aborted) change(controller, () => ({ status: "cancelled" }));
      else change(controller, ({ id }) => failure(error, id));
    }
  };
  const clear = (): void => {
    running.current?.abort();
    running.current = undefined;
    setTurns([]);
  };
  return {
    turns,
    isRunning: turns.at(-1)?.status === "running",
    messagesWith: (system, next) => messagesOf(system, turns, next),
    send: (message, body) => sendMessage(message, body, turns),
    repeat: async (body) => {
      const last = turns.at(-1);
      if (last !== undefined) await sendMessage(last, body, turns.slice(0, -1), last);
    },
    stop: () => running.current?.abort(),
    clear,
  };
}

function failure(error: unknown, id: string): Partial<Turn> {
  const fault =
    error instanceof ApiFault ? error : new ApiFault(error instanceof Error ? error.message : String(error));
  const status = fault.isRefusal ? "refused" : "failed";
  return { fault, id: id || (fault.requestId ?? ""), status, ...(fault.isFree && { credits: 0 }) };
}

async function stream(
  body: ChatCompletionRequest,
  signal: AbortSignal,
  onPart: (part: (turn: Turn) => Partial<Turn>) => void,
): Promise<void> {
  const response = await send("POST /v1/chat/completions", {
    body: { ...body, stream: true, stream_options: { include_usage: true } },
    signal,
  });
  const id = response.headers.get("x-request-id") ?? "";
  onPart(() => ({ id }));
  for await (const data of readEvents(response)) {
    const { choices = [], usage, error } = JSON.parse(data) as Partial<ChatCompletionChunk> & Partial<ErrorEnvelope>;
    if (error !== undefined)
      throw new ApiFault(error.message, { code: error.code ?? "unknown", param: error.param, requestId: id });
    const { content, reasoning_content: reasoned, refusal } = choices[0]?.delta ?? {};
    const added = (content ?? "") + (refusal ?? "");
    if (added !== "" || reasoned != null) {
      onPart(({ answer, reasoning }) => ({ answer: answer + added, reasoning: reasoning + (reasoned ?? "") }));
    }
    if (usage) {
      const tokens = `${usage.prompt_tokens.toLocaleString("en")} + ${usage.completion_tokens.toLocaleString("en")} tokens`;
      onPart(() => ({ tokens, credits: usage.credits ?? null }));
    }
  }
}

/** Returns the messages of a call. They end with the new message, or else with the last sent message. */
function messagesOf(system: string, turns: readonly Turn[], next: Message | undefined): Messages {
  const messages = [
    ...(system.trim() === "" ? [] : [{ role: "system" as const, content: system }]),
    ...turns.flatMap((turn, place) => [
      userMessage(turn),
      ...(turn.answer === "" || (next === undefined && place === turns.length - 1)
        ? []
        : [{ role: "assistant" as const, content: turn.answer }]),
    ]),
    ...(next === undefined ? [] : [userMessage(next)]),
  ];
  return messages;
}

function userMessage({ text, files }: Message): Messages[number] {
  if (files.length === 0) return { role: "user", content: text };
  const blocks = files.map(({ id }) => ({ type: "file" as const, file: { file_id: id } }));
  return { role: "user", content: [...blocks, { type: "text" as const, text }] };
}
