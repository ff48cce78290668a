/** Prompt of a provider's request in the order in which prompt caches read it, to measure how much of it the next request repeats. */
type Members = Readonly<Record<string, unknown>>;

/** @returns share of the first prompt's bytes that the second prompt begins with, from 0 to 1 */
export function repeatedShare(first: unknown, second: unknown): number {
  const [before, after] = [promptOf(first), promptOf(second)];
  let at = 0;
  while (at < before.length && before[at] === after[at]) at += 1;
  return at / before.length;
}

/** Tools that are not deferred, the system prompt, and each block of the conversation, without the marks for the cache. */
function promptOf(body: unknown): Buffer {
  const { tools, system, messages } = body as Members;
  const blocks = listOf(messages).flatMap(({ role, content }) => listOf(content).map((block) => ({ role, block })));
  const parts = [listOf(tools).filter((tool) => tool["defer_loading"] !== true), listOf(system), blocks].flat();
  return Buffer.from(parts.map((part) => JSON.stringify(part, withoutMarks)).join("\n"));
}

function withoutMarks(name: string, value: unknown): unknown {
  return name === "cache_control" ? undefined : value;
}

function listOf(value: unknown): readonly Members[] {
  return Array.isArray(value) ? (value as Members[]) : [];
}
