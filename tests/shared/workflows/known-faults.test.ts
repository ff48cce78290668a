/** Judging a value of which some places are open. */
import { expect, test } from "bun:test";

import { ApiError } from "#shared/base/errors.ts";
import { judgeKnown } from "#shared/workflows/known-faults.ts";

test("a placeholder for a member is unchanged when its parts are removed", () => {
  const usual = { messages: [{ content: "usual" }] };
  const open = [
    { path: ["messages", 1], param: "messages[1]", isText: false },
    { path: ["messages", 0, "content"], param: "messages[0].content", isText: false },
  ];
  const refused = (param: string) => [new ApiError("invalid_request", "Expected another.", { param })];
  const { known } = judgeKnown({ messages: [{ content: "open" }, "open"] }, open, {
    memberDepth: 1,
    usual,
    faultsOf: (value) => {
      const [first, second] = value["messages"] as { content?: string }[];
      if (second !== undefined) return refused("messages[1]");
      return first?.content === undefined ? [] : refused("messages[0].content");
    },
  });
  expect(known).toEqual({ messages: [{}] });
  expect(usual).toEqual({ messages: [{ content: "usual" }] });
});
