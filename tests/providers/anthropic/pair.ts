/** A server that checks its calls, and a provider at it as the catalogue would make one; and recorded answers to play. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { createProviders } from "#workers/providers/index.ts";
import type { ChatProvider } from "#workers/providers/provider.ts";

import { type Behaviour, jsonReply } from "../engine/behaviour.ts";
import { useServers } from "../engine/calls.ts";
import { type AnthropicServer, startAnthropicServer } from "./server.ts";

export interface Pair {
  readonly server: AnthropicServer;
  readonly provider: ChatProvider;
}

/** Starts pairs that end with their test. */
export function usePairs(): (...behaviours: readonly Behaviour[]) => Pair {
  const own = useServers();
  return (...behaviours) => {
    const server = own(startAnthropicServer({ apiKey: "sk-ant-ours" }));
    server.next(...behaviours);
    const entry = { id: "anthropic", family: "anthropic", base_url: server.url, api_key_env: "KEY_API_KEY" } as const;
    const provider = createProviders(() => "sk-ant-ours").chat(entry);
    if (!provider) throw new Error("the family offers no chat");
    return { server, provider };
  };
}

export function fixture(name: string): string {
  return readFileSync(join(import.meta.dir, "fixtures", name), "utf8");
}

/** A recorded answer as the server's behaviour: `.sse` is a stream, `.json` a plain answer. */
export function recorded(name: string): Behaviour {
  const type = name.endsWith(".sse") ? "text/event-stream; charset=utf-8" : "application/json";
  return { ...jsonReply(200, fixture(name)), headers: { "content-type": type } };
}
