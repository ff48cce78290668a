/** Permissions under /workspaces: every route × everyone × own, foreign and unknown objects, from one table. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { routesOf } from "#ingress/app.ts";
import type { RouteCall } from "#ingress/core/call.ts";
import type { Route } from "#ingress/core/route.ts";
import { ApiError } from "#shared/base/errors.ts";
import { newId } from "#shared/base/ids.ts";
import type { Label, LabelSubject } from "#shared/database/label-limits.ts";
import { setSpendLimit } from "#shared/ledger/spend-limits.ts";

import { fakeContext } from "../../fake-context.ts";
import { addPerson } from "../managed-bed.ts";
import { ELSEWHERE, type Kind, type Row, TABLE } from "./matrix-table.ts";
import {
  auditOf,
  BAD_IDS,
  expectDeclared,
  putChannel,
  putDelivery,
  putKey,
  putMember,
  putSubscription,
} from "./settings-bed.ts";
import { openSpendBed, ROLES, type SpendBed, type Team } from "./spend-bed.ts";

let bed: SpendBed;
/** Other workspaces, which no route changes. */
let foreign: Team;
let away: Team;
beforeAll(async () => {
  bed = await openSpendBed();
  [foreign, away] = [await bed.team(0n), await bed.team(0n)];
});
afterAll(() => bed.close());

const fake = fakeContext();
const KEYED = routesOf(fake.context).filter(({ auth }) => auth === "key");
fake.close();
const PREFIX = "/workspaces/{workspaceId}";
const nameOf = ({ method, path }: Pick<Route, "method" | "path">): string => `${method} ${path}`;
const REGISTERED = new Set(KEYED.map((route) => nameOf(route)));
const routeOf = ({ route }: Row): string => route.replace(" ", ` ${PREFIX}`);

const ACTORS = ["owner", "admin", "maker", "other", "billing", "stranger", "revoked", "none"] as const;
type Actor = (typeof ACTORS)[number];
type Target = "own" | "foreign" | "unknown";

interface Cast {
  readonly team: Team;
  readonly keys: Readonly<Record<Actor, string | undefined>>;
}

async function cast(): Promise<Cast> {
  const team = await bed.team(0n);
  const gone = await addPerson(bed.db, team.id, "owner");
  // The key is revoked before its first use, so no cache has it.
  await bed.db.query("update api_key set revoked_at = now() where id = $1", [gone.keyId]);
  const { owner, admin, developer, other, billing } = team;
  const keys = {
    owner: owner.key,
    admin: admin.key,
    maker: developer.key,
    other: other.key,
    billing: billing.key,
    stranger: away.owner.key,
    revoked: gone.key,
    none: undefined,
  };
  return { team, keys };
}

async function putLabelLimit(team: Team, kind: LabelSubject, label: Label): Promise<void> {
  const credits = { day: 1_000_000_000n };
  await setSpendLimit(bed.db.database, team.id, { id: newId(), kind, label, credits });
}

/** Parameters of the path that name an object of the team, made by its first developer. */
const MAKERS: Readonly<Record<Kind, (team: Team) => Promise<Readonly<Record<string, string>>>>> = {
  workspace: (team) =>
    Promise.resolve({ model: `model-${team.id}`, user: `user ${team.id}`, tag: "project", value: team.id }),
  member: async (team) => ({ memberId: await putMember(bed, team) }),
  key: async (team) => ({ keyId: await putKey(bed, team, team.developer) }),
  channel: async (team) => ({ channelId: await putChannel(bed, team, team.developer) }),
  subscription: async (team) => {
    const channelId = await putChannel(bed, team, team.developer);
    return { channelId, subscriptionId: await putSubscription(bed, team, channelId) };
  },
  delivery: async (team) => ({
    deliveryId: await putDelivery(bed, team, await putChannel(bed, team, team.developer)),
  }),
  chain: async (team) => {
    const model = `model-${newId()}`;
    await bed.db.query("insert into fallback_chain (workspace_id, model, fallbacks) values ($1, $2, '{other}')", [
      team.id,
      model,
    ]);
    return { model };
  },
  end_user: async (team) => {
    const user = `user ${newId()}`;
    await putLabelLimit(team, "end_user", { name: "user", value: user });
    return { user };
  },
  tag: async (team) => {
    const value = newId();
    await putLabelLimit(team, "tag", { name: "project", value });
    return { tag: "project", value };
  },
  alert: async (team) => {
    const alertId = newId();
    await bed.db.query(
      "insert into budget_alert (id, workspace_id, name, threshold, period) values ($1, $2, $3, 1000000000, 'daily')",
      [alertId, team.id, `alert ${alertId}`],
    );
    return { alertId };
  },
  balanceAlert: async (team) => {
    const alertId = newId();
    await bed.db.query("insert into balance_alert (id, workspace_id, name, below_days) values ($1, $2, $3, 7)", [
      alertId,
      team.id,
      `alert ${alertId}`,
    ]);
    return { alertId };
  },
  call: () => Promise.resolve({ request_id: newId() }),
};

const UNKNOWN = (): Readonly<Record<string, string>> => ({
  memberId: newId(),
  keyId: newId(),
  channelId: newId(),
  subscriptionId: newId(),
  deliveryId: newId(),
  model: `model-${newId()}`,
  user: `user ${newId()}`,
  tag: "project",
  value: newId(),
  alertId: newId(),
  request_id: newId(),
});

function bodyOf({ body }: Row, team: Team): unknown {
  if (body === undefined) return undefined;
  return JSON.parse(
    JSON.stringify(body)
      .replaceAll("{new}", `new ${newId()}`)
      .replaceAll("{workspace}", `workspace ${team.id}`)
      .replaceAll("{hour ago}", new Date(Date.now() - 3_600_000).toISOString()),
  );
}

/** Returns the status that the table has for a call. */
function expected(row: Row, actor: Actor, target: Target): number {
  if (actor === "none" || actor === "revoked") return 401;
  if (actor === "stranger") return 404;
  const role = actor === "maker" || actor === "other" ? "developer" : actor;
  if (!row.may.includes(role)) return 403;
  if (target !== "own") return 404;
  return actor === "other" && row.own ? row.own.other : row.ok;
}

describe.each(TABLE.filter((row) => REGISTERED.has(routeOf(row))).map((row) => [row.route, row] as const))(
  "%s",
  (route, row) => {
    const [method = "", path = ""] = route.split(" ");
    const send = async (
      workspaceId: string,
      params: Readonly<Record<string, string>>,
      { key, body }: { readonly key: string | undefined; readonly body: unknown },
    ): Promise<readonly [status: number, text: string]> => {
      const filled = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => params[name] ?? "");
      const whole = `/workspaces/${workspaceId}${filled}`;
      const answer = await bed.send(method, whole, key, body);
      const text = await answer.text();
      const isJson = answer.headers.get("content-type")?.startsWith("application/json") === true;
      if (answer.ok && isJson) expectDeclared(bed, method, whole, answer.status, JSON.parse(text));
      return [answer.status, text];
    };

    test("is allowed for the listed roles, and a foreign object is an unknown one", async () => {
      const { team, keys } = await cast();
      const targets: readonly Target[] = row.kind === "workspace" ? ["own"] : ["own", "foreign", "unknown"];
      let log = await auditOf(bed, team);
      for (const actor of ACTORS) {
        const told = new Map<Target, string>();
        for (const target of targets) {
          // What is an own call, and how it is read, is told by tests of usage.
          if (row.kind === "call" && target === "own") continue;
          const made = target === "unknown" ? UNKNOWN() : await MAKERS[row.kind](target === "own" ? team : foreign);
          const [status, text] = await send(team.id, made, { key: keys[actor], body: bodyOf(row, team) });
          expect([actor, target, status, text]).toEqual([actor, target, expected(row, actor, target), text]);
          told.set(target, text);
          const after = await auditOf(bed, team);
          if (status >= 400) expect(after).toEqual(log);
          log = after;
        }
        expect([actor, told.get("foreign")]).toEqual([actor, told.get("unknown")]);
      }
    });

    // Chains, end users and tags go by names, which have no form of an id.
    if (!["workspace", "chain", "end_user", "tag"].includes(row.kind)) {
      test("reads an invalid id as an unknown one", async () => {
        const { team, keys } = await cast();
        const made = await MAKERS[row.kind](team);
        const last = /.*\{(\w+)\}/.exec(path)?.[1] ?? "";
        const told = (id: string) =>
          send(team.id, { ...made, [last]: id }, { key: keys.owner, body: bodyOf(row, team) });
        const unknown = await told(newId());
        expect(unknown[0]).toBe(404);
        for (const id of BAD_IDS) expect([id, await told(id)]).toEqual([id, unknown]);
        expect(await auditOf(bed, team)).toEqual([]);
      });

      test("answers for another workspace as for an unknown one, for every role", async () => {
        const { team, keys } = await cast();
        const made = await MAKERS[row.kind](foreign);
        for (const actor of ACTORS) {
          const body = bodyOf(row, team);
          const there = await send(foreign.id, made, { key: keys[actor], body });
          expect([actor, there]).toEqual([actor, await send(newId(), UNKNOWN(), { key: keys[actor], body })]);
          expect([actor, there[0]]).toEqual([actor, keys[actor] === keys.revoked || actor === "none" ? 401 : 404]);
        }
      });
    }
  },
);

test("an object of one workspace is unknown on a path of another", async () => {
  const { team } = await cast();
  const theirs = await MAKERS.subscription(foreign);
  const mine = await MAKERS.subscription(team);
  const mixed = `/workspaces/${team.id}/notification-channels/${mine["channelId"]}/subscriptions/${theirs["subscriptionId"]}`;
  expect((await bed.refusal(404, "DELETE", mixed, team.owner.key)).code).toBe("not_found");
});

describe("the access table", () => {
  test("has every route under /workspaces, once", () => {
    const rows = TABLE.map((row) => routeOf(row));
    expect(new Set(rows).size).toBe(rows.length);
    const under = [...REGISTERED].filter((name) => name.includes(" /workspaces"));
    expect(under.filter((name) => !rows.includes(name))).toEqual([]);
  });

  test("of other routes has every route with a key, with its roles", () => {
    const known = new Map(ELSEWHERE.flatMap(([may, routes]) => routes.map((route) => [route, may] as const)));
    const elsewhere = KEYED.filter(({ path }) => !path.startsWith("/workspaces"));
    expect(elsewhere.map((route) => nameOf(route)).toSorted()).toEqual([...known.keys()].toSorted());
    for (const route of elsewhere) {
      const may = ROLES.filter((role) => mayCall(route, role));
      expect([nameOf(route), may]).toEqual([nameOf(route), [...(known.get(nameOf(route)) ?? [])]]);
    }
  });

  test("includes no route under /workspaces without a key and a gate", () => {
    const open = routesOf(fake.context).filter(({ path }) => path.startsWith("/workspaces"));
    expect(open.filter((route) => route.auth !== "key" || route.authorize === undefined)).toEqual([]);
  });
});

function mayCall(route: Route, role: (typeof ROLES)[number]): boolean {
  const call = { params: {}, caller: { ...fake.caller, role } } as unknown as RouteCall;
  try {
    route.authorize?.(call);
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.code === "permission_denied") return false;
    throw error;
  }
}
