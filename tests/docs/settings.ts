/** schemas/SETTINGS.md: its calls, run as they stand against a running stack, with the ids that the answers before them gave. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { beforeAll, expect, test } from "bun:test";

import type { Stack } from "#tests/support/stack.ts";
import { SETTINGS_PAGE_MAX, SETTINGS_PAGE_DEFAULT } from "#ingress/settings/page.ts";
import { CSV_ROWS_MAX } from "#ingress/settings/csv.ts";
import { USAGE_BUCKETS_MAX } from "#ingress/settings/usage-query.ts";
import { USAGE_SUMS_MAX } from "#ingress/routes/settings/usage.ts";

import { sharedStack } from "./shared-stack.ts";

const page = readFileSync(join(import.meta.dir, "../../schemas/SETTINGS.md"), "utf8");

let stack: Stack;
beforeAll(async () => {
  stack = await sharedStack();
});

async function run(call: string, ids: Readonly<Record<string, string>>): Promise<string> {
  const env = { ...process.env, ...ids, SLUICE_KEY: stack.key, WORKSPACE: "default" };
  const command = call.replaceAll("http://127.0.0.1:8080", stack.baseUrls[0] ?? "");
  const child = Bun.spawn(["bash", "-eu", "-c", command], { env, stderr: "pipe" });
  const [out, fault] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  expect([call, await child.exited, fault]).toEqual([call, 0, ""]);
  return out;
}

test("its calls do what it says", async () => {
  const chat = await fetch(`${stack.baseUrls[0]}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${stack.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "sandbox-chat", messages: [{ role: "user", content: "Say exactly: yes" }] }),
  });
  await chat.text();
  await stack.settled();
  const calls = Array.from(page.matchAll(/```sh\n([^]*?)```/g), ([, call = ""]) => call);
  const ids: Record<string, string> = { REQUEST: chat.headers.get("x-request-id") ?? "" };
  const objects: string[] = [];
  for (const call of calls) {
    const answer = await run(call, ids);
    if (call.includes("text/csv")) {
      expect(answer.split("\n")[0]).toBe("start_time,end_time,model,calls,failed,credits,tokens");
      continue;
    }
    const { object, id, model } = JSON.parse(answer) as { object?: string; id: string; model: string };
    objects.push(object ?? model);
    if (object === "member") ids["MEMBER"] = id;
    if (object === "api_key") ids["KEY"] = id;
  }
  expect(objects).toEqual(["member", "api_key", "api_key", "sandbox-chat", "usage.request", "budget_alert"]);
});

test("it says the limits in force", () => {
  const said = [
    `\`limit\` is 1 to ${SETTINGS_PAGE_MAX}, and ${SETTINGS_PAGE_DEFAULT} when`,
    `at most ${CSV_ROWS_MAX.toLocaleString("en")} rows`,
    `at most ${USAGE_BUCKETS_MAX} buckets and ${USAGE_SUMS_MAX.toLocaleString("en")} sums`,
  ];
  expect(said.filter((one) => !page.replaceAll("\n", " ").includes(one))).toEqual([]);
});
