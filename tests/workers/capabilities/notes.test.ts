/** Notes of a run: what its result leaves out, in sentences for its caller. */
import { expect, test } from "bun:test";

import { defineCapability, input, type RunOutput } from "#workers/capabilities/define.ts";

const ran = async (made: RunOutput) => {
  const toy = defineCapability({
    id: "document.toy",
    display_name: "Toy",
    description: "Returns what it is told to.",
    output_modality: "text",
    input: { document: input("document", "Any.") },
    params: {},
    sample_input: {},
    examples: [],
    price: {},
    engine: "pdf",
    run: () => Promise.resolve(made),
  });
  return toy.run({ params: {}, inputs: {} } as never);
};

test("notes are part of the output, only if there are some", async () => {
  expect(await ran({ output: { pages: 1 }, notes: ["Not kept: bookmarks."] })).toEqual({
    output: { pages: 1, notes: ["Not kept: bookmarks."] },
  });
  expect(await ran({ output: { pages: 1 }, notes: [] })).toEqual({ output: { pages: 1 } });
  expect(await ran({ notes: ["a"] })).toEqual({ output: { notes: ["a"] } });
});

test("twenty notes are listed, and the number of others", async () => {
  const notesOf = async (count: number) => {
    const notes = Array.from({ length: count }, (_, at) => `Page ${at + 1}.`);
    return (await ran({ notes })).output?.["notes"] as readonly string[];
  };
  expect(await notesOf(20)).toHaveLength(20);
  const many = await notesOf(2_000);
  expect([many.length, many[18], many[19]]).toEqual([20, "Page 19.", "1981 more notes are not listed."]);
});
