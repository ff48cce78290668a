/**
 * Limits of a message before the SDK reads it: the SDK's schemas visit every value several times without a pause, on the thread of all
 * calls. 70,000 members in 0.8 MB took 0.2 s.
 */
import { ApiError } from "#shared/errors.ts";

/** Most values in a message: members of objects and elements of arrays, at every depth. */
export const MCP_VALUES_MAX = 10_000;

/** Members of `_meta` that the protocol or its extensions define; others are removed. */
const META = /^(?:progressToken|traceparent|tracestate|baggage|io\.modelcontextprotocol\/.{1,64})$/;

/** Returns the message without unknown members of `params._meta`. @throws ApiError `invalid_request` for too many values */
export function boundedMessage(message: object): object {
  checkValues(message);
  const params = objectOf((message as { readonly params?: unknown }).params);
  const meta = objectOf(params?.["_meta"]);
  if (!meta) return message;
  const known = Object.fromEntries(Object.entries(meta).filter(([name]) => META.test(name)));
  return { ...message, params: { ...params, _meta: known } };
}

function checkValues(message: object): void {
  let count = 0;
  const open: object[] = [message];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    const values: readonly unknown[] = Object.values(one);
    count += values.length;
    if (count > MCP_VALUES_MAX) {
      throw new ApiError(
        "invalid_request",
        `Expected a message with at most ${MCP_VALUES_MAX} values; send larger inputs as text, or as files.`,
      );
    }
    for (const value of values) if (typeof value === "object" && value !== null) open.push(value);
  }
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as Readonly<Record<string, unknown>>) : undefined;
}
