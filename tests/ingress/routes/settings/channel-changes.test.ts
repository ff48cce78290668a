/** PATCH /workspaces/{workspaceId}/notification-channels/{channelId}. Against real receivers: tests/e2e/notifications. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { audited, auditOf, putChannel } from "./settings-bed.ts";
import { openSpendBed, type SpendBed, type Team } from "./spend-bed.ts";

let bed: SpendBed;
beforeAll(async () => {
  bed = await openSpendBed();
});
afterAll(() => bed.close());

const at = (of: Pick<Team, "id">, rest = ""): string => `/workspaces/${of.id}/notification-channels${rest}`;
const SHOWN = "https://hooks.example.com/…abcd";

describe("changing a channel", () => {
  test("has an audit entry with its old and new values, and only the names of secrets", async () => {
    const own = await bed.team(0n);
    const id = await putChannel(bed, own, own.developer);
    const path = at(own, `/${id}`);
    const [name, config] = [`hook ${id}`, { url: SHOWN }];
    let is: object = { name, enabled: true, config };
    for (const [by, body, next, changed_secrets] of [
      [own.developer, { name: "new name" }, { name: "new name" }, []],
      [own.admin, { enabled: false }, { enabled: false }, []],
      [
        own.owner,
        { config: { url: "https://canary.example.com/new/wxyz", authToken: "canary-token" } },
        { config: { url: "https://canary.example.com/…wxyz" } },
        ["url", "authToken"],
      ],
      [own.developer, { config: { authToken: "" } }, {}, ["authToken"]],
    ] as const) {
      const line = await audited(bed, own, by, { method: "PATCH", path, body });
      expect(line).toMatchObject({ action: "channel.update", subject: id, before: is });
      is = { ...is, ...next };
      expect(line.after).toEqual({ ...is, changed_secrets });
      expect(line.answer).toMatchObject({ ...is });
    }
    expect(JSON.stringify(await auditOf(bed, own))).not.toMatch(/canary-token|whsec_|\/new\//);
  });

  test("by a developer is limited to channels that it created", async () => {
    const own = await bed.team(0n);
    const [mine, others] = [await putChannel(bed, own, own.developer), await putChannel(bed, own, own.other)];
    const body = { enabled: false };
    expect((await bed.ask("Channel", "PATCH", at(own, `/${mine}`), own.developer.key, { body })).enabled).toBe(false);
    for (const sent of [body, "{"]) {
      expect(await bed.refusal(403, "PATCH", at(own, `/${others}`), own.developer.key, sent)).toEqual({
        code: "permission_denied",
        param: null,
      });
    }
    expect((await bed.ask("Channel", "GET", at(own, `/${others}`), own.developer.key)).enabled).toBe(true);
    for (const role of ["owner", "admin"] as const) {
      await bed.ask("Channel", "PATCH", at(own, `/${others}`), own[role].key, { body });
    }
  });

  test("to another server never keeps a stored credential, for any role and any number of steps", async () => {
    const own = await bed.team(0n);
    const path = at(own, `/${await putChannel(bed, own, own.developer)}`);
    const send = (config: object) => bed.ask("Channel", "PATCH", path, own.owner.key, { body: { config } });
    await send({ url: SHOWN, authType: "bearer", authToken: "canary-token" });
    const elsewhere = { url: "https://elsewhere.example.com/path" };
    const missing = { code: "missing_required_parameter", param: "config.authToken" };
    for (const person of [own.developer, own.admin]) {
      const body = { config: { ...elsewhere, authType: "bearer" } };
      expect(await bed.refusal(400, "PATCH", path, person.key, body)).toEqual(missing);
    }
    const moved = await send(elsewhere);
    expect(moved).toMatchObject({ config: { url: "https://elsewhere.example.com/…path" }, credentials: ["authToken"] });
    const body = { config: { authType: "bearer" } };
    expect(await bed.refusal(400, "PATCH", path, own.admin.key, body)).toEqual(missing);
    expect((await send({ authType: "bearer", authToken: "another-token" })).config).toMatchObject({
      authType: "bearer",
    });
    expect(
      (await auditOf(bed, own)).map(({ after }) => (after as { changed_secrets: unknown }).changed_secrets),
    ).toEqual([["authToken"], ["url"], ["authToken"]]);
  });

  test("accepts no signing secret among its settings", async () => {
    const own = await bed.team(0n);
    const path = at(own, `/${await putChannel(bed, own, own.developer)}`);
    const { updatedAt: _then, ...before } = await bed.ask("Channel", "GET", path, own.owner.key);
    for (const name of ["signingSecret", "previousSigningSecret"]) {
      const body = { config: { url: SHOWN, [name]: "" } };
      expect(await bed.refusal(400, "PATCH", path, own.developer.key, body)).toEqual({
        code: "unknown_parameter",
        param: `config.${name}`,
      });
    }
    const { signingSecret } = await bed.ask("SigningSecret", "POST", `${path}/signing-secret/reveal`, own.owner.key);
    expect(signingSecret).toBe(`whsec_${before.id}`);
  });

  test("is rejected for settings that its type does not have", async () => {
    const own = await bed.team(0n);
    const path = at(own, `/${await putChannel(bed, own, own.owner)}`);
    for (const [config, param] of [
      [{ url: "https://hooks.example.com/…wxyz" }, "config.url"],
      [{ url: "http://10.0.0.1/" }, "config.url"],
      [{ authType: "bearer" }, "config.authToken"],
      [{ chatId: "7" }, "config.chatId"],
    ] as const) {
      expect((await bed.refusal(400, "PATCH", path, own.owner.key, { config })).param).toBe(param);
    }
    expect(await auditOf(bed, own)).toEqual([]);
  });

  test("to enabled resets its failures", async () => {
    const own = await bed.team(0n);
    const id = await putChannel(bed, own, own.owner, { enabled: false });
    await bed.db.query(
      "update notification_channel set disabled_reason = 'failing', failing_since = now(), opened = 3 where id = $1",
      [id],
    );
    const read = await bed.ask("Channel", "GET", at(own, `/${id}`), own.owner.key);
    expect(read).toMatchObject({
      enabled: false,
      disabledReason: "failing",
      failingSince: expect.any(String) as string,
    });
    const body = { enabled: true };
    expect(await bed.ask("Channel", "PATCH", at(own, `/${id}`), own.owner.key, { body })).toMatchObject({
      enabled: true,
      disabledReason: null,
      failingSince: null,
    });
  });
});
