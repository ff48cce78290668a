/** Reads the request that a local provider received back out of its family's own format. */
import type { Family } from "./bed.ts";

export interface Sent {
  readonly isStream: boolean;
  readonly system: string;
  readonly tools: readonly string[];
  /** In order, what each side said. */
  readonly said: readonly Said[];
}

export type Said =
  | { readonly user: string; readonly images: readonly string[] }
  | { readonly model: string; readonly calls: readonly SentCall[] }
  | { readonly results: readonly { readonly of: string; readonly value: unknown }[] };

export interface SentCall {
  readonly name: string;
  readonly args: unknown;
}

interface Recorded {
  readonly path: string;
  readonly body: unknown;
}

type Members = Readonly<Record<string, unknown>>;

export function readSent(family: Family, { path, body }: Recorded): Sent {
  return READERS[family](body as Members, path);
}

/** Signatures on the calls of a Gemini request, in order; undefined where a call has none. */
export function signaturesOf({ body }: Recorded): unknown[] {
  const { contents } = body as { contents: { parts: Members[] }[] };
  return contents
    .flatMap(({ parts }) => parts)
    .filter((part) => "functionCall" in part)
    .map((part) => part["thoughtSignature"]);
}

/** Signatures on the thoughts of a Claude request, in order. */
export function thinkingOf({ body }: Recorded): unknown[] {
  return listOf((body as Members)["messages"])
    .flatMap(({ content }) => partsOf(content))
    .filter(({ type }) => type === "thinking")
    .map(({ signature }) => signature);
}

const READERS: Readonly<Record<Family, (body: Members, path: string) => Sent>> = {
  openai(body) {
    const said: Said[] = [];
    const names = new Map<unknown, string>();
    let system = "";
    for (const message of listOf(body["messages"])) {
      const text = textOf(message["content"]);
      if (message["role"] === "system") system += text;
      else if (message["role"] === "user") {
        const images = partsOf(message["content"])
          .filter(({ type }) => type === "image_url")
          .map((part) => String((part["image_url"] as Members)["url"]).replace("data:image/png;base64,", ""));
        said.push({ user: text, images });
      } else if (message["role"] === "assistant") {
        const calls = listOf(message["tool_calls"]).map((call) => {
          const fn = call["function"] as { name: string; arguments: string };
          names.set(call["id"], fn.name);
          return { name: fn.name, args: JSON.parse(fn.arguments) as unknown };
        });
        said.push({ model: text, calls });
      } else addResult(said, names.get(message["tool_call_id"]), text);
    }
    const tools = listOf(body["tools"]).map((tool) => String((tool["function"] as Members)["name"]));
    return { isStream: body["stream"] === true, system, tools, said };
  },

  claude(body) {
    const said: Said[] = [];
    const names = new Map<unknown, string>();
    for (const { role, content } of listOf(body["messages"])) {
      const parts = partsOf(content);
      const text = textOf(content);
      if (role === "assistant") {
        const uses = parts.filter(({ type }) => type === "tool_use");
        for (const use of uses) names.set(use["id"], String(use["name"]));
        said.push({ model: text, calls: uses.map((use) => ({ name: String(use["name"]), args: use["input"] })) });
        continue;
      }
      const results = parts.filter(({ type }) => type === "tool_result");
      for (const result of results) addResult(said, names.get(result["tool_use_id"]), textOf(result["content"]));
      const images = parts
        .filter(({ type }) => type === "image")
        .map((part) => String((part["source"] as Members)["data"]));
      if (text !== "" || images.length > 0) said.push({ user: text, images });
    }
    const tools = listOf(body["tools"]).map(({ name }) => String(name));
    return { isStream: body["stream"] === true, system: textOf(body["system"]), tools, said };
  },

  gemini(body, path) {
    const said: Said[] = [];
    for (const { role, parts: given } of listOf(body["contents"])) {
      const parts = listOf(given);
      const text = parts.map((part) => (typeof part["text"] === "string" ? part["text"] : "")).join("");
      if (role === "model") {
        const calls = membersIn(parts, "functionCall").map(({ name, args }) => ({ name: String(name), args }));
        said.push({ model: text, calls });
        continue;
      }
      for (const { name, response } of membersIn(parts, "functionResponse")) {
        const wrapped = response as Members;
        addResult(said, String(name), "result" in wrapped ? String(wrapped["result"]) : JSON.stringify(wrapped));
      }
      const images = membersIn(parts, "inlineData").map(({ data }) => String(data));
      if (text !== "" || images.length > 0) said.push({ user: text, images });
    }
    const { parts } = (body["systemInstruction"] ?? {}) as Members;
    const tools = listOf(body["tools"]).flatMap((tool) => listOf(tool["functionDeclarations"]));
    return {
      isStream: path.includes(":streamGenerateContent"),
      system: textOf(parts),
      tools: tools.map(({ name }) => String(name)),
      said,
    };
  },
};

/** Results that follow each other are one answer to the calls before them. */
function addResult(said: Said[], of: string | undefined, value: string): void {
  const result = { of: of ?? "a call that nobody made", value };
  const last = said.at(-1);
  if (last && "results" in last) said[said.length - 1] = { results: [...last.results, result] };
  else said.push({ results: [result] });
}

function membersIn(parts: readonly Members[], name: string): Members[] {
  return parts.filter((part) => name in part).map((part) => part[name] as Members);
}

function listOf(value: unknown): Members[] {
  return Array.isArray(value) ? (value as Members[]) : [];
}

function partsOf(content: unknown): Members[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : listOf(content);
}

function textOf(content: unknown): string {
  return partsOf(content)
    .map(({ text }) => (typeof text === "string" ? text : ""))
    .join("");
}
