import { expect, test } from "bun:test";

import { sentence } from "#deploy/supervisor/roles.mjs";

test.each([
  ["one fault", ["sluice: PORT is wrong"], "PORT is wrong"],
  [
    "every fault of the settings",
    ["sluice: PORT is wrong", "SLUICE_X is no setting", ""],
    "PORT is wrong\nSLUICE_X is no setting",
  ],
  ["a fault among log lines", ['{"msg":"a"}', "sluice: broken", '{"msg":"b"}'], "broken"],
  ["no fault", ['{"msg":"a"}', "Segmentation fault"], null],
])("a role's output has %s", (_what, lines, expected) => {
  expect(sentence(lines)).toBe(expected);
});
