/** One running service for the stories of this folder, and clients of it that have nothing of ours. */
import { Client, type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import { type Stack, startStack } from "#tests/support/stack.ts";
import { asNewWorkspace, type Tenant } from "#tests/support/tenant.ts";

let started: Promise<Stack> | undefined;

export function sharedStack(): Promise<Stack> {
  started ??= startStack({ pools: ["chat", "capability", "workflow"] });
  return started;
}

export async function newTenant(): Promise<Tenant> {
  return asNewWorkspace(await sharedStack());
}

export type Mode = "auto" | "legacy";

interface Connecting {
  /** The door; /mcp unless it is given. */
  readonly path?: string;
  readonly mode?: Mode;
  readonly capabilities?: NonNullable<ClientOptions["capabilities"]>;
  /** Hears every message from the service, as it came. */
  readonly onAnswer?: (text: string) => void;
}

export async function connect(
  { baseUrls, key }: Pick<Stack, "baseUrls" | "key">,
  { path = "/mcp", mode = "auto", capabilities = {}, onAnswer }: Connecting = {},
): Promise<Client> {
  const client = new Client({ name: "story", version: "1" }, { versionNegotiation: { mode }, capabilities });
  const url = new URL(`${baseUrls[0]}${path}`);
  const listen = async (to: string | URL, init?: RequestInit): Promise<Response> => {
    const answer = await fetch(to, init);
    onAnswer?.(await answer.clone().text());
    return answer;
  };
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(
    new StreamableHTTPClientTransport(url, { requestInit, ...(onAnswer === undefined ? {} : { fetch: listen }) }),
  );
  return client;
}

/** The result of a tool: its JSON, which the text repeats. */
export async function called(
  client: Client,
  name: string,
  given: Record<string, unknown> = {},
): Promise<Record<string, unknown>> {
  const { content, structuredContent, isError } = await client.callTool({ name, arguments: given });
  if (isError === true) throw new Error(JSON.stringify(content));
  return structuredContent as Record<string, unknown>;
}

/** A message as it goes over the wire. */
export function post(
  { baseUrls, key }: Pick<Stack, "baseUrls" | "key">,
  body: string | object,
  headers: Readonly<Record<string, string>> = {},
  path = "/mcp",
): Promise<Response> {
  return fetch(`${baseUrls[0]}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}
