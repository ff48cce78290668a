/** Definitions of workflows: what is read, and what is refused at which place. */
import { describe, expect, test } from "bun:test";

import { findCapability } from "#shared/calls/capabilities/list.ts";
import { runWhole } from "#shared/base/time-slices.ts";
import { readingDefinition, DEFINITION_BYTES_MAX } from "#shared/workflows/definition.ts";
import { NODE_UNITS, PARSED_UNITS, Work } from "#shared/workflows/expressions/work.ts";

import { catalogue, read, refusal } from "./definitions.ts";

const chat = (id: string, content: string, more: object = {}) => ({
  id,
  type: "model",
  model: "sandbox-chat",
  params: { messages: [{ role: "user", content }] },
  ...more,
});
const resize = (id: string, file: string, more: object = {}) => ({
  id,
  type: "image.resize",
  input: { image: { file_id: file } },
  params: { width: 256 },
  ...more,
});
const PHOTO = "file-sample-photo";

describe("a definition", () => {
  test("is compiled with the dependencies of each step", () => {
    const { steps } = read({
      inputs: { topic: { type: "string", required: true }, n: { type: "integer", default: 2 } },
      steps: [
        chat("outline", "Outline ${{ inputs.topic }}"),
        {
          id: "art",
          type: "model",
          model: "sandbox-image",
          if: "${{ inputs.n > 0 }}",
          params: { prompt: "${{ steps.outline.output.text }}" },
        },
        resize("thumb", "${{ steps.art.output.data[0].file_id }}", { depends_on: ["outline"] }),
        {
          id: "each",
          type: "sub_pipeline",
          for_each: "${{ steps.outline.output.json.list }}",
          workflow_id: "01a208a8-74a2-74f4-b2d2-763ef695b360",
          input: { url: "${{ item }}", at: "${{ index }}" },
        },
      ],
      output: { text: "${{ steps.outline.output.text }}", thumb: "${{ steps.thumb.output.files[0].file_id }}" },
      retry: { max_attempts: 3 },
      metadata: { colour: "red" },
    });
    expect(steps.map(({ step, waitsFor }) => [step.id, [...waitsFor]])).toEqual([
      ["outline", []],
      ["art", ["outline"]],
      ["thumb", ["outline", "art"]],
      ["each", ["outline"]],
    ]);
  });

  test("may have a condition and a list that are equal in every run", () => {
    const more = { if: "${{ 1 < 2 }}", for_each: "${{ [1, 2].map(x, x + 1) }}" };
    expect(read({ steps: [chat("a", "x", more), chat("b", "x", { for_each: "${{ null }}" })] }).steps).toHaveLength(2);
  });

  test("resolves the complete input of a step", () => {
    const [step] = read({
      inputs: { topic: { type: "string" }, size: { type: "object" } },
      steps: [
        resize("thumb", PHOTO, {
          params: { width: "${{ inputs.size.width }}", fit: "inside", height: "${{ inputs.size.width * 2 }}" },
        }),
      ],
    }).steps;
    const scope = { inputs: { size: { width: 64 } }, steps: {}, run: { id: "1", attempt: 1 } };
    expect(step?.params.resolve(scope)).toEqual({ value: { width: 64, fit: "inside", height: 128 } });
    expect(step?.params.resolve({ ...scope, inputs: { size: {} } })).toEqual({
      fault: "inputs.size.width does not exist.",
    });
  });

  test("is limited in total output, for any number of references", () => {
    const text = "x".repeat(1_000_000);
    const named = (count: number) => Array.from({ length: count }, () => "${{ inputs.text }}");
    const output = (count: number) =>
      read({ inputs: { text: { type: "string" } }, steps: [chat("a", "x")], output: { all: named(count) } }).output;
    const scope = { inputs: { text }, steps: {}, run: { id: "1", attempt: 1 } };
    expect(output(8).resolve(scope)).toEqual({ value: { all: Array.from({ length: 8 }, () => text) } });
    expect(output(9).resolve(scope)).toEqual({
      fault: "Expected expressions to return at most 8388608 bytes in total.",
    });
  });

  test("is limited in total work, for any number of expressions", () => {
    const output = (count: number) =>
      read({
        inputs: { list: { type: "array" } },
        steps: [chat("a", "x")],
        output: { all: Array.from({ length: count }, () => "${{ inputs.list.map(x, x + 1)[0] }}") },
      }).output;
    const list = Array.from({ length: 10_000 }, () => 1);
    const scope = { inputs: { list }, steps: {}, run: { id: "1", attempt: 1 } };
    expect(output(5).resolve(scope)).toEqual({ value: { all: [2, 2, 2, 2, 2] } });
    expect(output(100).resolve(scope)).toMatchObject({ fault: expect.stringMatching(/too expensive/) });
  });

  test("may test whether a step's output has any member, but only of a step that exists", () => {
    const guarded = (id: string) => ({
      steps: [chat("a", "x")],
      output: { b: `\${{ has(steps.${id}.output.content) ? "y" : "n" }}` },
    });
    expect(read(guarded("a")).steps).toHaveLength(1);
    expect(() => read(guarded("none"))).toThrow("Expected a step of this definition");
  });

  test.each<[string, unknown, string]>([
    ["no object", "x", "definition"],
    ["no steps", {}, "definition.steps"],
    ["an output that is no object", { steps: [chat("a", "x")], output: "${{ steps.a.output }}" }, "definition.output"],
    ["an unknown member", { steps: [chat("a", "x")], step: 1 }, "definition.step"],
    ["an unknown member of a step", { steps: [{ ...chat("a", "x"), modle: "y" }] }, "definition.steps[0].modle"],
    ["an id of other letters", { steps: [chat("A-1", "x")] }, "definition.steps[0].id"],
    ["an id that means something else", { steps: [chat("item", "x")] }, "definition.steps[0].id"],
    ["an id twice", { steps: [chat("a", "x"), chat("a", "y")] }, "definition.steps[1].id"],
    [
      "a default of another type",
      { inputs: { n: { type: "integer", default: "2" } }, steps: [chat("a", "x")] },
      "definition.inputs.n.default",
    ],
    [
      "an input of other letters",
      { inputs: { "a b": { type: "string" } }, steps: [chat("a", "x")] },
      "definition.inputs.a b",
    ],
    [
      "too many tries of a step",
      { steps: [chat("a", "x", { retry: { max_attempts: 6 } })] },
      "definition.steps[0].retry.max_attempts",
    ],
    ["concurrency without a list", { steps: [chat("a", "x", { concurrency: 2 })] }, "definition.steps[0].concurrency"],
    ["a condition that is text", { steps: [chat("a", "x", { if: "yes" })] }, "definition.steps[0].if"],
    [
      "a condition beside text",
      { inputs: { n: { type: "integer" } }, steps: [chat("a", "x", { if: "${{ inputs.n }} > 1" })] },
      "definition.steps[0].if",
    ],
    ["a condition that is a number", { steps: [chat("a", "x", { if: "${{ 1 + 1 }}" })] }, "definition.steps[0].if"],
    ["a condition that gives text", { steps: [chat("a", "x", { if: "${{ 'yes' }}" })] }, "definition.steps[0].if"],
    ["a condition that is null", { steps: [chat("a", "x", { if: "${{ null }}" })] }, "definition.steps[0].if"],
    ["a list that is a number", { steps: [chat("a", "x", { for_each: "${{ 5 }}" })] }, "definition.steps[0].for_each"],
    ["a list that is text", { steps: [chat("a", "x", { for_each: "1,2" })] }, "definition.steps[0].for_each"],
    [
      "an input that is not declared",
      { steps: [chat("a", "About ${{ inputs.topic }}")] },
      "definition.steps[0].params.messages[0].content",
    ],
    [
      "a step that is not there",
      { steps: [chat("a", "x")], output: { b: ["${{ steps.b.output }}"] } },
      "definition.output.b[0]",
    ],
    [
      "a member that no step has",
      { steps: [chat("a", "x")], output: { b: "${{ steps.a.text }}" } },
      "definition.output.b",
    ],
    [
      "a member that no step has, in an expression",
      { steps: [chat("a", "x"), chat("b", "y", { if: "${{ steps['a'].text == 'x' }}" })] },
      "definition.steps[1].if",
    ],
    [
      "a member that no output of a chat has",
      { steps: [chat("a", "x")], output: { b: "${{ size(steps.a.output.content) }}" } },
      "definition.output.b",
    ],
    [
      "a member of a list of outputs",
      { steps: [chat("a", "x", { for_each: [1] })], output: { b: "${{ steps.a.output.text }}" } },
      "definition.output.b",
    ],
    [
      "a member that no run has",
      { steps: [chat("a", "${{ run.name }}")] },
      "definition.steps[0].params.messages[0].content",
    ],
    [
      "a dependency that is not there",
      { steps: [chat("a", "x", { depends_on: ["b"] })] },
      "definition.steps[0].depends_on[0]",
    ],
    ["an item without a list", { steps: [chat("a", "${{ item }}")] }, "definition.steps[0].params.messages[0].content"],
    [
      "an item in the list itself",
      { steps: [chat("a", "x", { for_each: "${{ item }}" })] },
      "definition.steps[0].for_each",
    ],
    [
      "an expression that is none",
      { steps: [chat("a", "${{ 1 + }}")] },
      "definition.steps[0].params.messages[0].content",
    ],
    [
      "a member that leads out of data",
      { steps: [chat("a", "x")], output: JSON.parse('{"__proto__": 1}') as unknown },
      "definition.output",
    ],
    ["a step that waits for itself", { steps: [chat("a", "${{ steps.a.output }}")] }, "definition.steps[0]"],
    ["no model", { steps: [{ id: "a", type: "model", params: {} }] }, "definition.steps[0].model"],
    ["a model that is not there", { steps: [{ ...chat("a", "x"), model: "none" }] }, "definition.steps[0].model"],
    [
      "a model's param of another type",
      { steps: [{ ...chat("a", "x"), params: { messages: "x" } }] },
      "definition.steps[0].params.messages",
    ],
    [
      "a stream",
      { steps: [{ ...chat("a", "x"), params: { messages: [{ role: "user", content: "x" }], stream: true } }] },
      "definition.steps[0].params.stream",
    ],
    [
      "a capability that is not there",
      { steps: [{ ...resize("a", PHOTO), type: "image.rezise" }] },
      "definition.steps[0].type",
    ],
    [
      "a capability's unknown param",
      { steps: [{ ...resize("a", PHOTO), params: { widht: 1 } }] },
      "definition.steps[0].params.widht",
    ],
    [
      "a rule that params break",
      { steps: [{ ...resize("a", PHOTO), params: {} }] },
      "definition.steps[0].params.width",
    ],
    [
      "no input",
      { steps: [{ id: "a", type: "image.resize", params: { width: 1 } }] },
      "definition.steps[0].input.image",
    ],
    ["a member of another type of step", { steps: [{ ...chat("a", "x"), input: {} }] }, "definition.steps[0].input"],
    ["a workflow without an id", { steps: [{ id: "a", type: "sub_pipeline" }] }, "definition.steps[0].workflow_id"],
    [
      "a workflow's id that is none",
      { steps: [{ id: "a", type: "sub_pipeline", workflow_id: "x" }] },
      "definition.steps[0].workflow_id",
    ],
  ])("is rejected with its path: %s", (_name, definition, place) => {
    expect(refusal(definition)[0]).toBe(place);
  });

  test.each([
    [
      "model",
      { ...chat("a", "x"), model: "sandbox-bakcup" },
      'There is no model "sandbox-bakcup". Did you mean sandbox-backup?',
    ],
    ["model", { ...chat("a", "x"), model: "?" }, 'There is no model "?". Choose a name from the list of models.'],
    [
      "type",
      { ...resize("a", PHOTO), type: "image.rezise" },
      'There is no step type "image.rezise". Did you mean image.resize?',
    ],
    ["type", { id: "a", type: "sub-pipelines" }, 'There is no step type "sub-pipelines". Did you mean sub_pipeline?'],
    [
      "type",
      { id: "a", type: "?" },
      'There is no step type "?". Choose model, sub_pipeline or the id of a capability, such as image.resize.',
    ],
  ])("suggests a similar %s for an unknown one", (member, step, message) => {
    expect(refusal({ steps: [step] })).toEqual([`definition.steps[0].${member}`, message]);
  });

  test("names the cycle of steps that depend on each other", () => {
    const steps = [
      chat("a", "x"),
      chat("b", "${{ steps.d.output }}"),
      chat("c", "${{ steps.b.output }}"),
      chat("d", "x", { depends_on: ["c", "a"] }),
    ];
    expect(refusal({ steps })).toEqual(["definition.steps[1]", "A step must not wait for itself, got b → d → c → b."]);
  });

  test("defers parts that depend on a run, and validates the others", () => {
    const inputs = { w: { type: "integer" }, file: { type: "string" }, list: { type: "array" } };
    const open = { width: "${{ inputs.w }}", fit: "inside" };
    expect(read({ inputs, steps: [resize("a", "${{ inputs.file }}", { params: open })] }).steps).toHaveLength(1);
    expect(refusal({ inputs, steps: [resize("a", "${{ inputs.file }}", { params: { ...open, fitt: 1 } })] })[0]).toBe(
      "definition.steps[0].params.fitt",
    );
    const messages = "${{ inputs.list }}";
    expect(read({ inputs, steps: [chat("a", "x", { params: { messages } })] }).steps).toHaveLength(1);
    // Text with an expression in it is text, whatever it becomes.
    expect(refusal({ inputs, steps: [resize("a", PHOTO, { params: { width: "1${{ inputs.w }}" } })] })[0]).toBe(
      "definition.steps[0].params.width",
    );
  });

  test("validates a model's input, if it is known completely, and edits as edits", () => {
    const image = (params: object, model = "sandbox-image") => ({ steps: [{ id: "a", type: "model", model, params }] });
    expect(read(image({ prompt: "x", size: "512x512" })).steps).toHaveLength(1);
    expect(refusal(image({ prompt: "x", n: 1_000 }))[0]).toBe("definition.steps[0].params.n");
    expect(refusal(image({ image_file_id: "file-sample-photo", image_base64: 1, prompt: "x" }))[0]).toBe(
      "definition.steps[0].params.image_base64",
    );
  });

  test("finds an error after a deferred one, and defers a text with expressions", () => {
    const inputs = { w: { type: "integer" }, f: { type: "string" } };
    const resized = (params: object) => ({ inputs, steps: [resize("a", PHOTO, { params })] });
    expect(refusal(resized({ width: "${{ inputs.w }}", height: "tall" }))[0]).toBe("definition.steps[0].params.height");
    expect(read(resized({ width: 10, fit: "${{ inputs.f }}" })).steps).toHaveLength(1);
    expect(read(resized({ width: 10, format: "${{ inputs.f }}g" })).steps).toHaveLength(1);
  });

  test("is limited in the work of parsing all of its expressions, exactly", () => {
    const definition = (count: number) => ({
      steps: [chat("a", "x")],
      output: { list: Array.from({ length: count }, () => "${{1+1}}") },
    });
    const read = (count: number, units: number) => {
      const reading = new Work(units);
      runWhole(readingDefinition(definition(count), { catalogue, capability: findCapability }, reading));
      return reading;
    };
    const units = 1_000_000 - read(1, 1_000_000).remaining;
    // Three characters, and three parts that are evaluated.
    expect(units).toBe(3 * PARSED_UNITS + 3 * NODE_UNITS);
    expect(read(5, 5 * units).remaining).toBe(0);
    expect(() => read(5, 5 * units - 1)).toThrow(/expressions are too complex/);
  });

  test("that is rejected is checked up to its first error", () => {
    const reading = new Work(1_000_000);
    const output = { list: ["${{1+}}", ...Array.from({ length: 100 }, () => "${{1+1+1+1+1+1}}")] };
    const work = readingDefinition(
      { steps: [chat("a", "x")], output },
      { catalogue, capability: findCapability },
      reading,
    );
    expect(() => runWhole(work)).toThrow(/Expected an expression in CEL/);
    expect(1_000_000 - reading.remaining).toBe("1+".length * PARSED_UNITS);
  });

  test("is parsed with a pause before each expression", () => {
    const output = { list: Array.from({ length: 100 }, () => "${{1+1}} and ${{2+2}}") };
    const work = readingDefinition({ steps: [chat("a", "x")], output }, { catalogue, capability: findCapability });
    let stops = 0;
    while (work.next().done !== true) stops += 1;
    expect(stops).toBeGreaterThan(200);
  });

  test("is limited in steps, inputs and bytes, exactly", () => {
    const steps = (count: number) => Array.from({ length: count }, (_, at) => chat(`s${at}`, "x"));
    expect(read({ steps: steps(100) }).steps).toHaveLength(100);
    expect(refusal({ steps: steps(101) })[0]).toBe("definition.steps");
    const inputs = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`i${at}`, { type: "string" }]));
    expect(read({ inputs: inputs(64), steps: steps(1) }).steps).toHaveLength(1);
    expect(refusal({ inputs: inputs(65), steps: steps(1) })[0]).toBe("definition.inputs");
    const sized = (bytes: number) => {
      const empty = { steps: steps(1), metadata: { text: "" } };
      return { ...empty, metadata: { text: "x".repeat(bytes - JSON.stringify(empty).length) } };
    };
    expect(read(sized(DEFINITION_BYTES_MAX)).steps).toHaveLength(1);
    expect(refusal(sized(DEFINITION_BYTES_MAX + 1))).toEqual([
      "definition",
      "Expected a definition of at most 262144 bytes, got 262145.",
    ]);
  });
});
