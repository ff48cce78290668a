/** Stories of workflows, runs and webhooks in a real browser. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { Workflow, WorkflowRun } from "#schemas/generated/types.ts";
import { type Receiver, startReceiver } from "#tests/e2e/notifications/bench.ts";
import { asNewWorkspace } from "#tests/support/tenant.ts";

import { type ConsoleBench, type ConsolePage, openConsoleBench } from "./bench.ts";

let bench: ConsoleBench;
let receiver: Receiver;

beforeAll(async () => {
  [bench, receiver] = await Promise.all([
    openConsoleBench({ pools: ["chat", "workflow", "webhook"], env: { SLUICE_OUTBOUND_ALLOW: "127.0.0.1" } }),
    startReceiver(),
  ]);
}, 90_000);
afterAll(async () => {
  await receiver?.close();
  await bench?.close();
});

const say = (model: string, content: string): Record<string, unknown> => ({
  inputs: { topic: { type: "string", required: true } },
  steps: [
    { id: "say", type: "model", model, params: { messages: [{ role: "user", content }] } },
    {
      id: "again",
      type: "model",
      model: "sandbox-chat",
      params: { messages: [{ role: "user", content: "${{ steps.say.output.text }}" }] },
    },
  ],
  output: { text: "${{ steps.again.output.text }}" },
});

async function read<Body>(key: string, path: string, body?: unknown): Promise<Body> {
  const response = await fetch(`${bench.baseUrl}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await response.json()) as Body;
}

async function write({ page }: ConsolePage, definition: unknown): Promise<string> {
  const text = JSON.stringify(definition, null, 2);
  await page.getByLabel("Definition as JSON").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
  return text;
}

/** Text that sandbox-slow repeats at 20 tokens a second, so that the run is open until it is cancelled. */
const LONG = `Say exactly and nothing else: ${"word ".repeat(600)}`;

const lineOf = (text: string, part: string): number => text.slice(0, text.indexOf(part)).split("\n").length;

describe("workflow", () => {
  test("a fault is shown at its line, the corrected definition is saved, and its changes are shown", async () => {
    const { key } = await asNewWorkspace(bench.stack);
    const view = await bench.open("/workflows/new", { key });
    const { page } = view;
    await page.getByLabel("Name").fill("About");
    await page.getByText("No faults.").waitFor();
    await page.getByRole("button", { name: "Create workflow" }).click();
    await page.getByRole("heading", { name: "About" }).waitFor();
    const id = /workflows\/([\w-]+)/.exec(page.url())?.[1] ?? "";

    const wrong = await write(view, say("sandbox-caht", "Hello"));
    const line = lineOf(wrong, '"model": "sandbox-caht"');
    await page.getByText(`Line ${line}: There is no model "sandbox-caht". Did you mean sandbox-chat`).waitFor();
    expect(await page.locator(".cm-lint-marker-error").count()).toBe(1);
    expect(await page.getByRole("button", { name: "Save version" }).getAttribute("aria-disabled")).toBe("true");
    await page.keyboard.press("Control+End");
    await page.keyboard.type(",");
    await page.getByText(`Line ${wrong.split("\n").length}:`).waitFor();

    await write(view, say("sandbox-chat", "Hello"));
    await page.getByText("No faults.").waitFor();
    expect(await page.getByRole("img", { name: "Graph: say, again after say" }).count()).toBe(1);
    expect(await view.findBarriers()).toEqual([]);
    await page.getByRole("button", { name: "Save version" }).click();
    await page.getByRole("heading", { name: "Changes from version 1 to version 2" }).waitFor();
    expect(await page.locator(".diff ins").allTextContents()).toContainEqual(
      expect.stringContaining('"content": "Hello"'),
    );
    expect((await read<Workflow>(key, `/v1/workflows/${id}`)).latestVersion).toBe(2);
    expect(await view.findBarriers()).toEqual([]);

    await page.getByRole("button", { name: "Restore version 1" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Restore version 1" }).click();
    await page.getByRole("heading", { name: "Changes from version 2 to version 3" }).waitFor();
    const [first, third] = await Promise.all(
      [1, 3].map((version) => read<Workflow>(key, `/v1/workflows/${id}?version=${version}`)),
    );
    expect(third?.definition).toEqual(first?.definition as Workflow["definition"]);
    // The refused checks of the wrong text.
    expect(view.faults.filter((fault) => !fault.includes("status of 400"))).toEqual([]);
  }, 60_000);

  test("keys that are pressed faster than the page is drawn are all kept", async () => {
    const { key } = await asNewWorkspace(bench.stack);
    const { page } = await bench.open("/workflows/new", { key });
    const editor = page.getByLabel("Definition as JSON");
    await editor.click();
    await page.keyboard.press("ControlOrMeta+a");
    const text = `{"steps":["${"fast ".repeat(40)}"]}`;
    await page.keyboard.type(text);
    await editor.getByText(text).waitFor();
    await page.getByText("Line 1:").first().waitFor();
    expect((await editor.innerText()).trim()).toBe(text);
  });

  test("a run is estimated, started with the form of its inputs, watched and cancelled", async () => {
    const { key } = await asNewWorkspace(bench.stack);
    const definition = say("sandbox-slow", "${{ inputs.topic }}");
    const { id } = await read<Workflow>(key, "/v1/workflows", { name: "Slow", definition });
    const view = await bench.open(`/workflows/${id}/run`, { key });
    const { page } = view;

    await page.getByRole("button", { name: "Run workflow" }).click();
    await page.locator(".field").getByText('Missing required input "topic".').waitFor();
    await page.getByRole("alert").waitFor({ state: "hidden" });
    await page.getByLabel("Topic").fill(LONG);
    await page.getByLabel("Limit of this run").fill("50");
    await page.getByRole("button", { name: "Estimate price" }).click();
    await page.getByRole("heading", { name: "Estimate" }).waitFor();
    expect(await view.findBarriers()).toEqual([]);

    await page.getByRole("button", { name: "Run workflow" }).click();
    await page.getByRole("heading", { name: "Run of version 1" }).waitFor();
    const runId = /runs\/([\w-]+)/.exec(page.url())?.[1] ?? "";
    await page.locator(".wf-bar.run").waitFor();
    await page.getByRole("button", { name: "Cancel run" }).click();
    await page.getByRole("dialog", { name: "Cancel this run?" }).getByRole("button", { name: "Cancel run" }).click();
    await page.locator(".title").getByText("Cancelled").waitFor();
    expect(await view.findBarriers()).toEqual([]);
    const run = await read<WorkflowRun>(key, `/v1/workflows/runs/${runId}`);
    expect([run.status, run.maxCredits, run.stepRuns.every(({ startedAt }) => startedAt !== undefined)]).toEqual([
      "cancelled",
      50,
      true,
    ]);

    await page.getByRole("button", { name: "Run again" }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(runId));
    const next = await read<WorkflowRun>(key, `/v1/workflows/runs/${page.url().split("/").at(-1)}`);
    expect([next.input, next.maxCredits]).toEqual([run.input, 50]);
    await page.getByRole("link", { name: "Runs", exact: true }).first().click();
    await page.getByRole("link", { name: "Slow, version 1" }).nth(1).waitFor();
    expect(view.faults.filter((fault) => !fault.includes("status of 400"))).toEqual([]);
  }, 60_000);
});

describe("webhook", () => {
  test("a channel is created and subscribed; a failed delivery shows its response and is sent again", async () => {
    const { key } = await asNewWorkspace(bench.stack);
    const view = await bench.open("/notifications", { key });
    const { page, faults } = view;
    receiver.answer = () => ({ status: 502, body: "the upstream is away" });

    await page.getByRole("button", { name: "Create channel" }).click();
    const dialog = page.getByRole("dialog", { name: "Create channel" });
    await dialog.getByLabel("Name").fill("Billing hook");
    await dialog.getByLabel("URL").fill(`${receiver.url}/console`);
    expect(await view.findBarriers()).toEqual([]);
    await dialog.getByRole("button", { name: "Create channel" }).click();
    const secret = page.getByRole("dialog", { name: "Signing secret of “Billing hook”" });
    expect(await secret.locator("pre").textContent()).toStartWith("whsec_");
    await secret.getByRole("button", { name: "Close" }).last().click();

    await page.getByRole("button", { name: "Add subscriptions" }).click();
    await page.getByRole("dialog").locator("label code").getByText("run.started", { exact: true }).waitFor();
    expect(await page.getByRole("dialog").textContent()).not.toContain("`");
    await page.getByLabel("run.failed").check();
    await page.getByLabel("balance.low").check();
    await page.getByRole("dialog").getByRole("button", { name: "Add subscriptions" }).click();
    await page.getByRole("button", { name: "Remove the subscription to run.failed" }).waitFor();
    expect(await view.findBarriers()).toEqual([]);

    await page.getByRole("button", { name: "Send test event" }).click();
    const toasts = page.locator(".toasts");
    await toasts.getByText("The test event was not delivered: the receiver returned status 502.").waitFor();
    await toasts.getByRole("link", { name: "Show the delivery" }).click();
    await toasts.getByRole("button", { name: "Close" }).click();
    const sheet = page.getByRole("complementary", { name: "test" });
    await sheet.getByText("the upstream is away").waitFor();
    expect(await view.findBarriers()).toEqual([]);

    receiver.answer = () => ({ status: 200, body: "received" });
    await sheet.getByRole("button", { name: "Resend now" }).click();
    await sheet.getByText("Response of attempt 2").waitFor();
    await sheet.locator(".kv").getByText("Delivered").waitFor();
    const sent = receiver.received.filter(({ path }) => path === "/console");
    expect(sent.map(({ headers }) => headers["webhook-id"])).toEqual([1, 2].map(() => sent[0]?.headers["webhook-id"]));
    await page.keyboard.press("Escape");
    await sheet.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Send test event" }).click();
    await toasts.getByText("The test event is delivered.").waitFor();

    await page.getByRole("link", { name: "Settings", exact: true }).last().click();
    await page.getByRole("button", { name: "Rotate secret" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Rotate secret" }).click();
    expect(await secret.locator("pre").textContent()).toStartWith("whsec_");
    await secret.getByText("The old secret also signs until").waitFor();
    await page.keyboard.press("Escape");
    expect(await view.findBarriers()).toEqual([]);
    expect(faults).toEqual([]);
  }, 60_000);
});
