/**
 * Reads cache hints (`cache_control`) for Anthropic's prompt cache in a request to a router. A cache write for an hour costs more than one
 * for five minutes. Routers report both as one count, so all hints of a call must be equal.
 */
import type { ChatCall } from "../provider.ts";
import { unsupported } from "./rejected.ts";

/**
 * Returns true if the cache writes of a call last an hour. Returns false if the source does not accept cache hints.
 * @throws ProviderError `rejected` that names the first cache hint with another ttl than the first one, because the price of the call would
 * be unknown
 */
export function writesForAnHour({ request, traits }: Pick<ChatCall, "request" | "traits">): boolean {
  if (!traits.has("cache_control")) return false;
  const [first, ...others] = hintsOf(request);
  const odd = others.find(({ isHour }) => isHour !== first?.isHour);
  if (odd) {
    const say = "Expected the same ttl in every cache_control of a call to this model.";
    throw unsupported(`${odd.param}.ttl`, say);
  }
  return first?.isHour ?? false;
}

interface Hint {
  readonly isHour: boolean;
  readonly param: string;
}

function hintsOf(request: ChatCall["request"]): Hint[] {
  const { messages, tools = [] } = request;
  return [
    ...hintOf(request, ""),
    ...(tools as readonly unknown[]).flatMap((tool, at) => [
      ...hintOf(tool, `tools[${at}].`),
      ...hintOf(member(tool, "function"), `tools[${at}].function.`),
    ]),
    ...messages.flatMap((message, at) => [
      ...hintOf(message, `messages[${at}].`),
      ...(Array.isArray(message.content)
        ? (message.content as readonly unknown[]).flatMap((part, index) =>
            hintOf(part, `messages[${at}].content[${index}].`),
          )
        : []),
    ]),
  ];
}

function hintOf(holder: unknown, path: string): Hint[] {
  const hint = member(holder, "cache_control");
  if (hint === undefined || hint === null) return [];
  return [{ isHour: member(hint, "ttl") === "1h", param: `${path}cache_control` }];
}

function member(holder: unknown, name: string): unknown {
  return typeof holder === "object" && holder !== null
    ? (holder as Readonly<Record<string, unknown>>)[name]
    : undefined;
}
