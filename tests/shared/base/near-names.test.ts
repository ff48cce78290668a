/** Names that are proposed for a model that there is not. */
import { expect, test } from "bun:test";

import { nearNames } from "#shared/base/near-names.ts";

const NAMES = ["claude-sonnet-4.6", "gpt-4o", "gpt-4o-mini", "gpt-5.5", "sandbox-chat", "sandbox-slow"];

test.each([
  ["a provider in front", "openai/gpt-4o", ["gpt-4o"]],
  ["a date behind", "gpt-4o-2024-08-06", ["gpt-4o"]],
  ["`latest` behind", "gpt-4o-mini-latest", ["gpt-4o-mini"]],
  ["another case and spaces", "GPT 4o Mini", ["gpt-4o-mini"]],
  ["a slip of the keyboard", "gtp-4o-mini", ["gpt-4o-mini"]],
  ["another way to write a version", "anthropic/claude-sonnet-4-6", ["claude-sonnet-4.6"]],
  ["a name that is near none", "whisper-1", []],
  ["no name", "", []],
  ["a slash alone", "/", []],
  ["a name longer than any", "gpt-4o".repeat(20), []],
])("%s", (_why, asked, near) => {
  expect(nearNames(NAMES, asked)).toEqual(near);
});

test.each([
  ["modle", "model"],
  ["widht", "width"],
  ["inputs", "input"],
  ["hieght", "height"],
])("%s is near %s", (asked, name) => {
  expect(nearNames([name, "depends_on", "x"], asked)).toEqual([name]);
});

test("names that differ twice are not near a short one", () => {
  expect(nearNames(["model"], "mdole")).toEqual([]);
  expect(nearNames(["width"], "wdihts")).toEqual([]);
});

test("the nearest names come first, three at most", () => {
  expect(nearNames(["model-d", "model-c", "model-b", "model-a", "model-e"], "model.e")).toEqual([
    "model-e",
    "model-a",
    "model-b",
  ]);
});

test("a known name longer than the bound is not compared: callers choose names of members, of any length", () => {
  expect(nearNames([`${"x".repeat(99)}y`], "x".repeat(100))).toHaveLength(1);
  expect(nearNames([`${"x".repeat(100)}y`], "x".repeat(100))).toEqual([]);
});
