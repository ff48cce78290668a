/** Unsaved changes in a browser: a link, the back button, the closing of the tab and of a dialog ask before they are lost. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import type { Page } from "playwright-core";

import { asNewWorkspace, type Tenant } from "#tests/support/tenant.ts";

import { type ConsoleBench, type ConsolePage, openConsoleBench } from "./bench.ts";

let bench: ConsoleBench;
let tenant: Tenant;

beforeAll(async () => {
  bench = await openConsoleBench({ pools: ["chat"] });
  tenant = await asNewWorkspace(bench.stack);
}, 60_000);
afterAll(() => bench?.close());

/** Opens the playground with an unsent message, from another page. */
async function writeMessage(): Promise<ConsolePage> {
  const view = await bench.open("/models", { key: tenant.key });
  await view.page.getByRole("link", { name: "Playground", exact: true }).click();
  await message(view.page).fill("The tide tables of ");
  return view;
}

const message = (page: Page) => page.getByLabel("Message", { exact: true });
const question = (page: Page) => page.getByRole("dialog", { name: "Leave the page?" });

test("a link asks, and the answer decides", async () => {
  const view = await writeMessage();
  const { page, faults } = view;
  await page.getByRole("link", { name: "Jobs", exact: true }).click();
  await question(page).waitFor();
  expect(await view.findBarriers()).toEqual([]);
  await question(page).getByRole("button", { name: "Cancel" }).click();
  expect(page.url()).toEndWith("/playground");
  expect(await message(page).inputValue()).toBe("The tide tables of ");

  await page.getByRole("link", { name: "Jobs", exact: true }).click();
  await question(page).getByRole("button", { name: "Leave page" }).click();
  await page.getByRole("heading", { name: "Jobs", exact: true }).waitFor();
  expect(await question(page).count()).toBe(0);
  await page.getByRole("link", { name: "Files", exact: true }).click();
  await page.getByRole("heading", { name: "Files", exact: true }).waitFor();
  expect(faults).toEqual([]);
});

test("the back button asks, and the answer decides", async () => {
  const { page, faults } = await writeMessage();
  await page.evaluate("history.back()");
  await question(page).getByRole("button", { name: "Cancel" }).click();
  expect(page.url()).toEndWith("/playground");
  await message(page).press("End");
  await page.evaluate("history.back()");
  await question(page).getByRole("button", { name: "Leave page" }).click();
  await page.getByRole("heading", { name: "Models and prices" }).waitFor();
  expect(faults).toEqual([]);
});

test("the closing of the tab asks until the message is sent", async () => {
  const { page } = await writeMessage();
  const asked = page.waitForEvent("dialog");
  await page.close({ runBeforeUnload: true });
  const dialog = await asked;
  expect(dialog.type()).toBe("beforeunload");
  await dialog.dismiss();

  await message(page).press("Enter");
  await page.getByText("Charged").waitFor();
  const closed = page.waitForEvent("close");
  await page.close({ runBeforeUnload: true });
  await closed;
});

test("a dialog with changed fields asks before it closes", async () => {
  const { page, faults } = await bench.open("/keys", { key: tenant.key });
  await page.getByRole("button", { name: "Create key" }).click();
  const form = page.getByRole("dialog", { name: "Create key" });
  const discard = page.getByRole("dialog", { name: "Discard the changes?" });
  await form.getByLabel("Name").fill("nightly");
  await page.keyboard.press("Escape");
  await discard.getByRole("button", { name: "Cancel" }).click();
  expect(await form.getByLabel("Name").inputValue()).toBe("nightly");

  await form.getByRole("button", { name: "Cancel" }).click();
  await discard.getByRole("button", { name: "Discard changes" }).click();
  await form.waitFor({ state: "detached" });
  expect(await page.evaluate("document.activeElement.textContent")).toBe("Create key");
  expect(faults).toEqual([]);
});

test("the views of a workflow keep an unsaved definition, and other pages ask", async () => {
  const { page, faults } = await bench.open("/workflows/new", { key: tenant.key });
  await page.getByLabel("Name").fill("Tides");
  await page.getByText("No faults.").waitFor();
  await page.getByRole("button", { name: "Create workflow" }).click();
  await page.getByRole("heading", { name: "Tides", exact: true }).waitFor();
  await page.getByLabel("Definition as JSON").click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type(" ");
  await page.getByText("unsaved changes").waitFor();

  await page.getByRole("link", { name: "Versions" }).click();
  await page.getByText("There is one version.").waitFor();
  await page.getByText("unsaved changes").waitFor();
  await page.getByRole("link", { name: "Overview" }).click();
  await question(page).getByRole("button", { name: "Leave page" }).click();
  await page.waitForURL((url) => url.pathname === "/console/" || url.pathname === "/console");
  expect(faults).toEqual([]);
});
