import { expect, test } from "bun:test";

import { isWithinTools, mayUseTool, usableTools } from "#shared/access/tools.ts";
import { newId } from "#shared/base/ids.ts";

const WORKFLOW = newId();
const keyWith = (...tools: string[]) => ({ tools: new Set(tools) });

test.each([
  [{}, ["image.resize", WORKFLOW], []],
  [keyWith(), [], ["image.resize", WORKFLOW, "", "sandbox-image"]],
  [keyWith("image.resize"), ["image.resize"], ["image.crop", "image.*", WORKFLOW, "workflow.*", ""]],
  [keyWith("image.*"), ["image.resize", "image.*"], ["images.resize", "code.regex", WORKFLOW]],
  [keyWith("workflow.*"), [WORKFLOW, "workflow.*"], ["image.resize", newId().slice(1) + ".x"]],
  [keyWith(WORKFLOW), [WORKFLOW], [newId(), "workflow.*"]],
])("a key %p runs its listed tools, and grants no more", (key, may, mayNot) => {
  for (const id of may) expect([id, mayUseTool(key, id)]).toEqual([id, true]);
  for (const id of mayNot) expect([id, mayUseTool(key, id)]).toEqual([id, false]);
  expect(isWithinTools(may, key)).toBe(true);
  expect(isWithinTools([...may, ...mayNot], key)).toBe(mayNot.length === 0);
  expect(isWithinTools(null, key)).toBe(!("tools" in key));
  expect(
    usableTools(
      key,
      [...may, ...mayNot].map((id) => ({ id })),
    ).map(({ id }) => id),
  ).toEqual(may);
});
