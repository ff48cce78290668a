/** Chunks of a chat stream, as we render them, put together to the completion that they are. */

type Fields = Readonly<Record<string, unknown>>;

interface Choice {
  readonly message: Record<string, unknown>;
  readonly calls: Record<string, unknown>[];
  finishReason: unknown;
}

export class ChunkedCompletion {
  private head: Fields = {};
  private usage: unknown = null;
  private readonly choices = new Map<number, Choice>();

  /** @param text whole events. @returns the text of the first choice in them */
  add(text: string): string {
    let content = "";
    for (const event of text.split("\n\n")) {
      const data = event.startsWith("data: ") ? event.slice(6) : "";
      if (data === "" || data === "[DONE]") continue;
      content += this.addChunk(JSON.parse(data) as Fields);
    }
    return content;
  }

  whole(): Fields {
    const choices = [...this.choices].toSorted(([one], [other]) => one - other);
    return {
      ...this.head,
      object: "chat.completion",
      choices: choices.map(([index, { message, calls, finishReason }]) => ({
        index,
        message: {
          role: "assistant",
          content: null,
          refusal: null,
          ...message,
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
        },
        finish_reason: finishReason,
      })),
      usage: this.usage,
    };
  }

  private addChunk({ choices, usage, ...head }: Fields): string {
    this.head = { ...this.head, ...head };
    if (usage != null) this.usage = usage;
    let content = "";
    for (const one of (choices ?? []) as readonly Fields[]) {
      const index = Number(one["index"] ?? 0);
      const choice = this.choices.get(index) ?? { message: {}, calls: [], finishReason: null };
      this.choices.set(index, choice);
      if (one["finish_reason"] != null) choice.finishReason = one["finish_reason"];
      const delta = (one["delta"] ?? {}) as Fields;
      addDelta(choice, delta);
      if (index === 0 && typeof delta["content"] === "string") content += delta["content"];
    }
    return content;
  }
}

/** Texts go on; of everything else the last one counts. */
function addDelta({ message, calls }: Choice, delta: Fields): void {
  for (const [name, value] of Object.entries(delta)) {
    if (value === null || value === undefined) continue;
    if (name === "tool_calls") addCalls(calls, value as readonly Fields[]);
    else if (name === "role" || typeof value !== "string") message[name] = value;
    else message[name] = `${typeof message[name] === "string" ? message[name] : ""}${value}`;
  }
}

function addCalls(calls: Record<string, unknown>[], deltas: readonly Fields[]): void {
  for (const { index, function: part, ...rest } of deltas) {
    const at = Number(index ?? calls.length);
    const call = (calls[at] ??= {});
    for (const [name, value] of Object.entries(rest)) if (value != null && value !== "") call[name] = value;
    const { name, arguments: text } = (part ?? {}) as Fields;
    const known = (call["function"] ?? { name: "", arguments: "" }) as { name: string; arguments: string };
    call["function"] = {
      name: known.name + (typeof name === "string" ? name : ""),
      arguments: known.arguments + (typeof text === "string" ? text : ""),
    };
  }
}
