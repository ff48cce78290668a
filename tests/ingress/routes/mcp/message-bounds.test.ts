import { describe, expect, test } from "bun:test";

import { boundedMessage, MCP_VALUES_MAX } from "#ingress/routes/mcp/mcp.ts";

const call = (params: object) => ({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
const members = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, 1]));
/** Values of a message beside those in `params`. */
const AROUND = 4;

describe("an MCP message", () => {
  test.each<[string, (count: number) => object]>([
    ["members of its metadata", (count) => ({ _meta: members(count - 1) })],
    ["members of its arguments", (count) => ({ arguments: members(count - 1) })],
    ["elements of a list", (count) => ({ arguments: { list: Array<number>(count - 2).fill(1) } })],
    ["values below one another", (count) => ({ arguments: [members((count - 3) / 2), members((count - 3) / 2)] })],
  ])("is limited in %s", (_what, paramsOf) => {
    const most = MCP_VALUES_MAX - AROUND;
    const fits = most % 2 === 1 ? most : most - 1;
    expect(() => boundedMessage(call(paramsOf(fits)))).not.toThrow();
    expect(() => boundedMessage(call(paramsOf(fits + 2)))).toThrow("Expected a message with at most");
  });

  test("keeps the metadata of the protocol, and drops other metadata", () => {
    const known = { progressToken: 1, traceparent: "00", "io.modelcontextprotocol/protocolVersion": "2026-07-28" };
    const params = { name: "run_tool", arguments: { a: 1 } };
    expect(boundedMessage(call({ ...params, _meta: { ...known, ...members(50), "com.example/x": {} } }))).toEqual(
      call({ ...params, _meta: known }),
    );
  });

  test.each([{ jsonrpc: "2.0", method: "ping" }, call([1, 2]), call({ _meta: "text" }), call({ name: "x" })])(
    "without metadata is unchanged: %j",
    (message) => {
      expect(boundedMessage(message)).toEqual(message);
    },
  );
});
