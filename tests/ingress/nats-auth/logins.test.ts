/** Logins of batch publishers with their API keys, asked of a NATS server under the file that operators run it with. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";

import { connect, type ConnectionOptions, type NatsConnection } from "nats";

import { findActiveKeys } from "#shared/access/active-keys.ts";
import { type Keys, openKeys } from "#shared/access/authenticate.ts";
import { type Callout, openCallout, type UserClaims } from "#ingress/nats-auth/callout.ts";
import { newId } from "#shared/base/ids.ts";
import { createLogger } from "#shared/base/logger.ts";
import { batchSubject, POOLS, publisherInbox } from "#shared/queue/subjects.ts";
import { mintKey } from "#shared/secrets/api-keys.ts";
import { eventually } from "#tests/faults/wait.ts";
import { createKey } from "#tests/shared/accounts.ts";
import { type ConfiguredNats, startConfiguredNats } from "#tests/support/configured-nats.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

let db: TestDatabase;
let server: ConfiguredNats;
const lines: string[] = [];
const log = createLogger({ level: "debug", role: "test", write: (line) => void lines.push(line) });

beforeAll(async () => {
  db = await createTestDatabase();
  server = await startConfiguredNats(undefined, { logins: false });
}, 60_000);

const ending: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (let end = ending.pop(); end !== undefined; end = ending.pop()) await end();
});

afterAll(async () => {
  await server.stop();
  await db.drop();
});

/** Answers logins for the length of a test. @returns a function that ends it before */
async function serve({
  at = server,
  ...given
}: {
  keys?: Pick<Keys, "find">;
  loginMs?: number;
  connectionsMax?: number;
  now?: () => number;
  at?: ConfiguredNats;
} = {}): Promise<() => Promise<void>> {
  const keys = openKeys({ database: db.database, log });
  const activeKeys = (ids: readonly string[]) => findActiveKeys(db.database, ids);
  let end: (() => Promise<void>) | undefined = await at.serveLogins({ keys, activeKeys, log, ...given });
  const once = async (): Promise<void> => {
    await end?.();
    end = undefined;
  };
  ending.push(once);
  return once;
}

/** A stock client that logs in once. */
async function logIn(credentials: Partial<ConnectionOptions>): Promise<NatsConnection> {
  const connection = await connect({ servers: server.address, reconnect: false, ...credentials });
  ending.push(() => connection.close());
  return connection;
}

/** "in", or the name of the error that it hears. */
async function outcome(credentials: Partial<ConnectionOptions>): Promise<string> {
  return logIn(credentials).then(
    () => "in",
    (error: Error) => error.name,
  );
}

describe("a publisher's login", () => {
  test.each([
    ["as password", (key: string) => ({ user: "anybody", pass: key })],
    ["as token", (key: string) => ({ token: key })],
  ])("accepts an API key %s", async (_how, credentials) => {
    await serve();
    const { key, workspaceId, keyId } = await createKey(db.database);
    const publisher = await logIn({ ...credentials(key), inboxPrefix: publisherInbox({ workspaceId, keyId }) });
    publisher.publish(batchSubject("chat", { workspaceId, keyId }), "{}");
    await publisher.flush();
    expect(publisher.isClosed()).toBe(false);
  });

  test("accepts an imported key", async () => {
    await serve();
    const { key } = await createKey(db.database, `sk_local_${newId()}`);
    expect(await outcome({ token: key })).toBe("in");
  });

  test("accepts a key with a list of IP addresses only from these addresses, its own and its member's", async () => {
    await serve();
    for (const [table, field] of [
      ["api_key", "keyId"],
      ["member", "memberId"],
    ] as const) {
      for (const [ips, expected] of [
        [["127.0.0.0/8", "::1"], "in"],
        [["203.0.113.0/24"], "AuthorizationError"],
      ] as const) {
        const mine = await createKey(db.database);
        const lists = JSON.stringify({ ips });
        await db.query(`update ${table} set access_lists = $2::jsonb where id = $1`, [mine[field], lists]);
        expect([table, ips, await outcome({ token: mine.key })]).toEqual([table, ips, expected]);
      }
    }
  });

  test.each([
    ["a key that is revoked", "update api_key set revoked_at = now() where id = $1", "keyId"],
    ["a key that is over", "update api_key set expires_at = now() - interval '1 second' where id = $1", "keyId"],
    ["a key of a disabled member", "update member set is_active = false where id = $1", "memberId"],
    ["a key of a disabled workspace", "update workspace set is_active = false where id = $1", "workspaceId"],
  ] as const)("rejects %s", async (_what, sql, field) => {
    await serve();
    const mine = await createKey(db.database);
    await db.query(sql, [mine[field]]);
    expect(await outcome({ token: mine.key })).toBe("AuthorizationError");
  });

  test.each([
    ["one without a key", {}],
    ["a key that nobody has", { token: mintKey() }],
    ["a key with a typo", { token: `${mintKey().slice(0, -1)}!` }],
    ["a key as user name", { user: "KEY", pass: "" }],
    ["the name of a role", { user: "ingress", pass: "KEY" }],
    ["the name of a role as token", { token: "ingress" }],
  ])("rejects %s", async (_what, credentials: Partial<ConnectionOptions>) => {
    await serve();
    const { key } = await createKey(db.database);
    const given = Object.entries(credentials).map(([name, value]) => [name, value === "KEY" ? key : value]);
    expect(await outcome(Object.fromEntries(given))).toBe("AuthorizationError");
  });

  test.each([
    ["its key is revoked", "update api_key set revoked_at = now() where id = $1", "keyId"],
    ["its key expires", "update api_key set expires_at = now() where id = $1", "keyId"],
    ["its member is disabled", "update member set is_active = false where id = $1", "memberId"],
    ["its workspace is disabled", "update workspace set is_active = false where id = $1", "workspaceId"],
  ] as const)(
    "ends its connection, and no other, when %s",
    async (_what, sql, field) => {
      await serve();
      const [mine, other] = [await createKey(db.database), await createKey(db.database)];
      const publisher = await connect({ servers: server.address, token: mine.key, reconnectTimeWait: 50 });
      const neighbour = await logIn({ token: other.key });
      await db.query(sql, [mine[field]]);
      expect(String(await publisher.closed())).toMatch(/Authorization/);
      await neighbour.flush();
      expect(neighbour.isClosed()).toBe(false);
    },
    20_000,
  );

  test("admitted by a dead process ends when its key is revoked", async () => {
    const end = await serve();
    const mine = await createKey(db.database);
    const publisher = await connect({ servers: server.address, token: mine.key, reconnectTimeWait: 50 });
    await end();
    await serve();
    await db.query("update api_key set revoked_at = now() where id = $1", [mine.keyId]);
    expect(String(await publisher.closed())).toMatch(/Authorization/);
  }, 20_000);

  test("ends with its time, and counts only while its key is valid", async () => {
    await serve({ loginMs: 2_500 });
    const { key, keyId } = await createKey(db.database);
    const publisher = await connect({ servers: server.address, token: key, reconnectTimeWait: 50 });
    ending.push(() => publisher.close());
    const seen: string[] = [];
    void (async () => {
      for await (const status of publisher.status()) seen.push(status.type);
    })();
    await eventually("it comes back by itself", () => seen.includes("reconnect"), 20_000);
    await db.query("update api_key set revoked_at = now() where id = $1", [keyId]);
    const error = await publisher.closed();
    expect(String(error)).toMatch(/Authorization/);
  }, 30_000);

  test("lasts eight to ten minutes, for its key's subjects only", async () => {
    const callout = openCallout(server.seeds);
    const given: UserClaims[] = [];
    const admit: Callout["admit"] = (request, serverKey, claims) => {
      given.push(claims);
      return callout.admit(request, serverKey, claims);
    };
    const keys = openKeys({ database: db.database, log });
    ending.push(await server.serveLogins({ keys, callout: { ...callout, admit } }));
    const { key, workspaceId, keyId } = await createKey(db.database);
    const before = Date.now();
    expect(await outcome({ token: key })).toBe("in");
    const [claims] = given;
    expect(claims).toEqual({
      name: `${workspaceId}/${keyId}`,
      account: "SLUICE",
      expiresAtMs: expect.any(Number),
      publish: POOLS.map((pool) => `batch.${pool}.${workspaceId}.${keyId}`),
      subscribe: [`_INBOX.ws.${workspaceId}.${keyId}.>`],
      subscriptionsMax: 100,
    });
    expect(claims?.expiresAtMs).toBeGreaterThanOrEqual(before + 480_000);
    expect(claims?.expiresAtMs).toBeLessThanOrEqual(Date.now() + 600_000);
  });

  test("is logged without the key", async () => {
    await serve();
    const [good, unknown] = [(await createKey(db.database)).key, mintKey()];
    lines.length = 0;
    for (const token of [good, unknown]) await outcome({ token });
    for (const pass of [good, unknown]) await outcome({ user: "somebody", pass });
    expect(lines.join("")).toContain("a batch publisher logged in");
    for (const key of [good, unknown]) expect(`${lines.join("")}${server.log()}`).not.toContain(key);
  });
});

describe("processes that answer logins", () => {
  test("answer equally, and one is enough", async () => {
    const asked = [0, 0];
    const found = openKeys({ database: db.database, log });
    const ends = await Promise.all(
      asked.map((_none, index) =>
        serve({
          keys: {
            find(key) {
              asked[index] = (asked[index] ?? 0) + 1;
              return found.find(key);
            },
          },
        }),
      ),
    );
    const { key } = await createKey(db.database);
    const logins = async (): Promise<Set<string>> =>
      new Set(await Promise.all(Array.from({ length: 24 }, () => outcome({ token: key }))));
    expect(await logins()).toEqual(new Set(["in"]));
    expect(await outcome({ token: mintKey() })).toBe("AuthorizationError");
    expect(asked[0]).toBeGreaterThan(0);
    expect(asked[1]).toBeGreaterThan(0);
    await ends[0]?.();
    expect(await logins()).toEqual(new Set(["in"]));
  });

  test("admit no publisher during their outage, and keep connected ones", async () => {
    const own = await startConfiguredNats(
      (text) => text.replace("\nauthorization {", "\nauthorization {\n  timeout: 0.5"),
      {
        logins: false,
      },
    );
    ending.push(() => own.stop());
    const end = await serve({ at: own });
    const { key, ...identity } = await createKey(db.database);
    const publisher = await logIn({ token: key, servers: own.address });
    await end();
    expect(await outcome({ token: key, servers: own.address })).toBe("AuthorizationError");
    publisher.publish(batchSubject("chat", identity), "{}");
    await publisher.flush();
    expect(publisher.isClosed()).toBe(false);
  }, 20_000);

  test("reject while keys cannot be looked up, and continue afterwards", async () => {
    let isAway = true;
    const found = openKeys({ database: db.database, log });
    await serve({ keys: { find: (key) => (isAway ? Promise.reject(new Error("away")) : found.find(key)) } });
    const { key } = await createKey(db.database);
    expect(await outcome({ token: key })).toBe("AuthorizationError");
    isAway = false;
    expect(await outcome({ token: key })).toBe("in");
  });

  test("look up few wrong keys concurrently, and delay no other address for long", async () => {
    const { key } = await createKey(db.database);
    const found = openKeys({ database: db.database, log });
    let [open, most] = [0, 0];
    const hung = Promise.withResolvers<void>();
    await serve({
      keys: {
        async find(given) {
          if (given === key) return found.find(given);
          most = Math.max(most, ++open);
          await hung.promise;
          open -= 1;
          return undefined;
        },
      },
    });
    const flood = Array.from({ length: 100 }, () => outcome({ token: mintKey() }));
    await eventually("look-ups are under way", () => open > 0);
    // The flood comes from 127.0.0.1, and the server listens there alone: another loopback address is another client.
    const other = await fromAddress("127.0.0.2", key);
    expect(other).toContain("+OK");
    hung.resolve();
    expect(new Set(await Promise.all(flood))).toEqual(new Set(["AuthorizationError"]));
    expect(most).toBe(2);
  }, 30_000);
});

describe("connections of one workspace", () => {
  test("are limited over all of its keys, while another workspace's publisher continues", async () => {
    await Promise.all([serve({ connectionsMax: 5 }), serve({ connectionsMax: 5 })]);
    const [hostile, good] = [await createKey(db.database), await createKey(db.database)];
    const second = await createKey(db.database, mintKey(), hostile.workspaceId);
    const publisher = await logIn({ token: good.key, inboxPrefix: publisherInbox(good) });
    const opened = await Promise.all(Array.from({ length: 5 }, () => logIn({ token: hostile.key })));
    const attempt = (token: string): Promise<string> =>
      logIn({ token }).then(
        (connection) => (opened.push(connection), "in"),
        (error: Error) => error.name,
      );
    const flood = (): Promise<string[]> =>
      Promise.all(Array.from({ length: 40 }, (_none, index) => attempt(index % 2 ? hostile.key : second.key)));
    // A process hears within a second what the other one admitted.
    await eventually("no process lets more in", async () => !(await flood()).includes("in"));
    expect(opened.length).toBeLessThanOrEqual(10);
    const floods = [flood(), flood(), flood()];
    for (let count = 0; count < 20; count++) {
      publisher.publish(batchSubject("chat", good), "{}");
      await publisher.flush();
    }
    // The flood takes all places of its address to wait for a look-up: another loopback address is another client.
    expect(await fromAddress("127.0.0.2", good.key)).toContain("+OK");
    expect(new Set((await Promise.all(floods)).flat())).toEqual(new Set(["AuthorizationError"]));
    expect(publisher.isClosed()).toBe(false);
    expect(server.log()).toContain("SLUICE_PUBLISHER_CONNECTIONS_MAX");
    expect(lines.join("")).toContain("a workspace has reached its limit of batch publisher connections");
    // Whoever leaves makes room.
    await Promise.all(opened.map((one) => one.close()));
    await eventually("there is room again", async () => (await outcome({ token: hostile.key })) === "in", 10_000);
  }, 40_000);

  test("do not count after their end, for any number of reconnects", async () => {
    // The count is refreshed every 250 ms instead of every second.
    await serve({ connectionsMax: 3, now: () => performance.now() * 4 });
    const { key } = await createKey(db.database);
    for (let count = 0; count < 12; count++) {
      const publisher = await logIn({ token: key });
      await publisher.close();
      await Bun.sleep(100);
    }
  }, 20_000);

  test("are counted by admissions if the server does not report them", async () => {
    const own = await startConfiguredNats((text) => text.replace('"publishers.connections" ] }', '"nothing" ] }'), {
      logins: false,
    });
    ending.push(() => own.stop());
    await serve({ at: own, connectionsMax: 3 });
    const { key } = await createKey(db.database);
    const logins = [];
    for (let count = 0; count < 5; count++) {
      logins.push(
        await connect({ servers: own.address, reconnect: false, token: key }).then(
          (publisher) => publisher.close().then(() => "in"),
          (error: Error) => error.name,
        ),
      );
    }
    expect(logins).toEqual(["in", "in", "in", "AuthorizationError", "AuthorizationError"]);
    expect(lines.join("")).toContain("NATS does not report the connections of publishers");
  }, 30_000);
});

/** Logs in from another address of this machine, with bare bytes, and returns what the server says. */
async function fromAddress(address: string, key: string): Promise<string> {
  const { createConnection } = await import("node:net");
  const [host = "", port = ""] = server.address.split(":");
  return await new Promise((resolve, reject) => {
    const socket = createConnection({ host, port: Number(port), localAddress: address });
    let said = "";
    socket.on("data", (chunk) => {
      said += chunk.toString();
      if (said.startsWith("INFO") && !said.includes("+OK")) return;
      socket.destroy();
      resolve(said);
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(said));
    socket.write(`CONNECT ${JSON.stringify({ verbose: true, pedantic: false, auth_token: key })}\r\n`);
  });
}
