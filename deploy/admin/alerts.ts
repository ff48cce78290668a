/** Commands that manage the budget alerts and balance alerts of a workspace. They access the database directly, and use the rules of the API. */
import {
  addBalanceAlert,
  BALANCE_ALERTS_PER_WORKSPACE_MAX,
  changeBalanceAlert,
} from "#ingress/routes/settings/balance-alerts.ts";
import {
  addBudgetAlert,
  BUDGET_ALERTS_PER_WORKSPACE_MAX,
  changeBudgetAlert,
} from "#ingress/routes/settings/budget-alerts.ts";
import { type BalanceAlertRow, deleteBalanceAlert, pageBalanceAlerts } from "#shared/database/balance-alerts.ts";
import { type BudgetAlertRow, deleteBudgetAlert, pageBudgetAlerts } from "#shared/database/budget-alerts.ts";
import type { Actor } from "#shared/database/audit-log.ts";
import type { Database } from "#shared/database/client.ts";
import type { WorkspaceRow } from "#shared/database/workspaces.ts";
import { formatCredits } from "#shared/base/money.ts";
import { parse } from "#shared/json/contracts.ts";

import { findWorkspace, nameOf, yesNoOf } from "./arguments.ts";
import { type Arguments, type Command, quote, UsageError } from "./command.ts";
import { ACTOR } from "./context.ts";
import { entriesOf, numberIn } from "./limit-options.ts";
import type { Json } from "./service.ts";

type Alert = BudgetAlertRow | BalanceAlertRow;

/** One kind of alert. Bodies are JSON texts, because they contain amounts as they were typed. */
interface Kind<Row extends Alert> {
  readonly command: "budget-alert" | "balance-alert";
  readonly noun: string;
  /** First sentence of the description of `set`, behind "Creates or changes". */
  readonly about: string;
  readonly options: string;
  readonly columns: string;
  /** Returns all alerts of the workspace, newest first. */
  list(database: Database, workspaceId: string): Promise<readonly Row[]>;
  /** Returns the members of a body as JSON texts; undefined for an absent option. */
  membersIn(input: Arguments): Readonly<Record<string, string | undefined>>;
  /** Options that a new alert needs, with the members of the body that contain their values: one of each list is enough. */
  readonly required: readonly (readonly (readonly [option: string, member: string])[])[];
  add(database: Database, workspaceId: string, text: string): Promise<Row>;
  change(database: Database, workspaceId: string, id: string, text: string): Promise<Row | undefined>;
  remove(database: Database, workspaceId: string, of: { readonly id: string; readonly actor: Actor }): Promise<boolean>;
  present(row: Row): Json;
  /** Returns the condition under which the alert fires, as the end of a sentence. */
  condition(row: Row): string;
}

const PERIODS = ["daily", "weekly", "monthly"];
const COMMON_OPTIONS = "[--channels <channels>] [--active <yes|no>]";

const BUDGET: Kind<BudgetAlertRow> = {
  command: "budget-alert",
  noun: "budget alert",
  about: "a budget alert, which fires when the spend of a period reaches a threshold",
  options: `[--threshold <credits>] [--period <period>] [--warn-at <value>] [--stops-calls <yes|no>] ${COMMON_OPTIONS}`,
  columns: "name threshold_credits period spent warn_at stops_calls is_active channel_ids id last_fired_at",
  list: (database, workspaceId) =>
    pageBudgetAlerts(database, workspaceId, { after: null, limit: BUDGET_ALERTS_PER_WORKSPACE_MAX }),
  membersIn: (input) => ({
    threshold_credits: amountIn(input, "threshold"),
    period: periodIn(input),
    warn_at: listIn(input, "warn-at", (percent) => numberIn("warn-at", percent)),
    stops_calls: yesNoIn(input, "stops-calls"),
    ...commonMembersIn(input),
  }),
  required: [[["threshold", "threshold_credits"]], [["period", "period"]]],
  async add(database, workspaceId, text) {
    const body = parse("BudgetAlertCreateRequest", JSON.parse(text));
    return (await addBudgetAlert({ database }, { workspaceId, memberId: null }, { body, text, actor: ACTOR })).row;
  },
  change(database, workspaceId, id, text) {
    const body = parse("BudgetAlertUpdateRequest", JSON.parse(text));
    return changeBudgetAlert({ database }, { workspaceId }, { id }, { body, text, actor: ACTOR });
  },
  remove: deleteBudgetAlert,
  present: ({ threshold, spent, ...row }) => ({
    ...row,
    threshold_credits: formatCredits(threshold),
    spent: formatCredits(spent),
  }),
  condition: ({ threshold, period, stops_calls }) =>
    `at ${formatCredits(threshold)} credits ${period}${stops_calls ? " and stops calls" : ""}`,
};

const BALANCE: Kind<BalanceAlertRow> = {
  command: "balance-alert",
  noun: "balance alert",
  about: "a balance alert, which fires when the available credits run low",
  options: `[--below-credits <credits>] [--below-days <days>] ${COMMON_OPTIONS}`,
  columns: "name below_credits below_days available days_left is_low is_active channel_ids id last_fired_at",
  list: (database, workspaceId) =>
    pageBalanceAlerts(database, workspaceId, { after: null, limit: BALANCE_ALERTS_PER_WORKSPACE_MAX }),
  membersIn: (input) => ({
    below_credits: amountIn(input, "below-credits"),
    below_days: amountIn(input, "below-days"),
    ...commonMembersIn(input),
  }),
  required: [
    [
      ["below-credits", "below_credits"],
      ["below-days", "below_days"],
    ],
  ],
  async add(database, workspaceId, text) {
    const body = parse("BalanceAlertCreateRequest", JSON.parse(text));
    return (await addBalanceAlert({ database }, { workspaceId, memberId: null }, { body, text, actor: ACTOR })).row;
  },
  change(database, workspaceId, id, text) {
    const body = parse("BalanceAlertUpdateRequest", JSON.parse(text));
    return changeBalanceAlert({ database }, { workspaceId }, { id }, { body, text, actor: ACTOR });
  },
  remove: deleteBalanceAlert,
  present: ({ below_credits, available, ...row }) => ({
    ...row,
    below_credits: below_credits === null ? null : formatCredits(below_credits),
    available: formatCredits(available),
  }),
  condition: ({ below_credits, below_days }) =>
    below_credits === null
      ? `when the available credits last fewer than ${below_days} days`
      : `below ${formatCredits(below_credits)} available credits`,
};

export const ALERT_COMMANDS: readonly Command[] = [...commandsOf(BUDGET), ...commandsOf(BALANCE)];

function commandsOf<Row extends Alert>(kind: Kind<Row>): readonly Command[] {
  const { command, noun, columns } = kind;
  return [
    {
      usage: `${command} list <workspace>`,
      about: `Lists the ${noun}s of a workspace, newest first.`,
      needs: "database",
      async run(context, input) {
        const database = await context.database();
        const workspace = await findWorkspace(database, input.argument("workspace"));
        const rows = await kind.list(database, workspace.id);
        return { json: rows.map((row) => jsonOf(workspace, kind.present(row))), columns };
      },
    },
    {
      usage: `${command} set <workspace> <name> ${kind.options}`,
      about: `Creates or changes ${kind.about}. Options that are omitted keep their value.`,
      needs: "database",
      async run(context, input) {
        const name = nameOf(input.argument("name"));
        const members = kind.membersIn(input);
        const database = await context.database();
        const workspace = await findWorkspace(database, input.argument("workspace"));
        const old = (await kind.list(database, workspace.id)).find((row) => row.name === name);
        const missing = kind.required.find((one) => one.every(([, member]) => members[member] === undefined));
        if (old === undefined && missing !== undefined) {
          const options = missing.map(([option]) => `--${option}`).join(" or ");
          throw new UsageError(`missing ${options}; ${workspace.name} has no ${noun} ${quote(name)} yet`);
        }
        const row =
          old === undefined
            ? await kind.add(database, workspace.id, bodyText({ name: JSON.stringify(name), ...members }))
            : await kind.change(database, workspace.id, old.id, bodyText(members));
        if (row === undefined) throw noAlert(workspace, noun, name);
        const state = row.is_active ? "" : "; it is disabled";
        return {
          json: jsonOf(workspace, kind.present(row)),
          text: `${noun} ${name} of ${workspace.name} fires ${kind.condition(row)}${state}`,
        };
      },
    },
    {
      usage: `${command} delete <workspace> <name>`,
      about: `Deletes a ${noun}.`,
      needs: "database",
      async run(context, input) {
        const name = input.argument("name");
        const database = await context.database();
        const workspace = await findWorkspace(database, input.argument("workspace"));
        const row = (await kind.list(database, workspace.id)).find((one) => one.name === name);
        const isDeleted = row && (await kind.remove(database, workspace.id, { id: row.id, actor: ACTOR }));
        if (row === undefined || isDeleted !== true) throw noAlert(workspace, noun, name);
        return {
          json: jsonOf(workspace, { id: row.id, name, deleted: true }),
          text: `deleted ${noun} ${name} of ${workspace.name}`,
        };
      },
    },
  ];
}

function jsonOf(workspace: WorkspaceRow, alert: Json): Json {
  return { workspace: workspace.name, workspace_id: workspace.id, ...alert };
}

function noAlert(workspace: WorkspaceRow, noun: string, name: string): Error {
  return new Error(`the workspace ${workspace.name} has no ${noun} ${quote(name)}`);
}

/** Returns a JSON object of these members, without absent ones. */
function bodyText(members: Readonly<Record<string, string | undefined>>): string {
  const present = Object.entries(members).filter(([, text]) => text !== undefined);
  return `{${present.map(([name, text]) => `"${name}":${text}`).join(",")}}`;
}

function commonMembersIn(input: Arguments): { readonly channel_ids?: string; readonly is_active?: string } {
  const channels = listIn(input, "channels", (id) => JSON.stringify(id));
  const isActive = yesNoIn(input, "active");
  return {
    ...(channels !== undefined && { channel_ids: channels }),
    ...(isActive !== undefined && { is_active: isActive }),
  };
}

function amountIn({ option }: Arguments, name: string): string | undefined {
  const value = option(name);
  return value === undefined ? undefined : numberIn(name, value);
}

/** Reads a list that is separated by commas as JSON text; `none` is the empty list. */
function listIn({ option }: Arguments, name: string, read: (entry: string) => string): string | undefined {
  const value = option(name);
  if (value === undefined) return undefined;
  return value === "none" ? "[]" : `[${entriesOf(value).map(read).join(",")}]`;
}

function yesNoIn({ option }: Arguments, name: string): string | undefined {
  const value = option(name);
  return value === undefined ? undefined : String(yesNoOf(name, value));
}

function periodIn({ option }: Arguments): string | undefined {
  const value = option("period");
  if (value === undefined || PERIODS.includes(value)) return value && JSON.stringify(value);
  throw new UsageError(`expected a period of ${PERIODS.join(", ")}, got ${quote(value)}`);
}
