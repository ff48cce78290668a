import { expect, test } from "bun:test";

import { RESULT_TEXT_CHARACTERS_MAX, toolResult } from "#ingress/routes/mcp/results.ts";

test("a result is repeated as text up to a length", () => {
  const fits = { text: "x".repeat(RESULT_TEXT_CHARACTERS_MAX - '{"text":""}'.length) };
  const over = { text: `${fits.text}x` };
  expect(toolResult(fits).content).toEqual([{ type: "text", text: JSON.stringify(fits) }]);
  const { content, structuredContent } = toolResult(over);
  expect(structuredContent).toEqual(over);
  expect(content).toEqual([
    {
      type: "text",
      text: `The result has ${RESULT_TEXT_CHARACTERS_MAX + 1} characters; read it in structuredContent.`,
    },
  ]);
});
