/** Commands that set the limits of members, end users and tags. They access the database directly, and use the rules of the API. */
import type { EndUserLimits } from "#schemas/generated/types.ts";
import { deleteLabelLimits, listLabelLimits, setLabelLimits } from "#ingress/routes/settings/label-limits.ts";
import { limitsAsked, presentHeld, storeLimits } from "#ingress/routes/settings/limits.ts";
import { type Limits, withOwnLimits } from "#shared/access/limits.ts";
import type { Queryable } from "#shared/database/client.ts";
import type { Label, LabelSubject } from "#shared/database/label-limits.ts";
import { USER_LABEL } from "#shared/calls/labels.ts";
import { withWorkspaceLock } from "#shared/database/workspaces.ts";
import { parse } from "#shared/json/contracts.ts";
import { repeatSpendChange, SPEND_WINDOWS } from "#shared/ledger/spend-limits.ts";

import { findWorkspace, limitOf, memberOf } from "./arguments.ts";
import { type Arguments, type Command, quote } from "./command.ts";
import { ACTOR, type Context } from "./context.ts";
import { digitsOf, LIMIT_OPTIONS, limitsCell, limitsText, SPEND_OPTIONS } from "./limit-options.ts";
import { textOf } from "./table.ts";

const ROWS = 100;

/** Words of the commands for each kind of label. */
const LABELS = {
  end_user: {
    verb: "end-user",
    noun: "end user",
    places: "<user>",
    counted: "all calls with this `user`",
    columns: "user",
    labelIn: (input: Arguments): Label => ({ name: USER_LABEL, value: input.argument("user") }),
    membersOf: ({ value }: Label) => ({ user: value }),
  },
  tag: {
    verb: "tag",
    noun: "tag",
    places: "<tag> <value>",
    counted: "all calls with this value of the tag",
    columns: "tag value",
    labelIn: (input: Arguments): Label => ({ name: input.argument("tag"), value: input.argument("value") }),
    membersOf: ({ name, value }: Label) => ({ tag: name, value }),
  },
} as const;

export const LIMIT_COMMANDS: readonly Command[] = [
  {
    usage: `member limits <workspace> <name> ${LIMIT_OPTIONS}`,
    about:
      "Replaces the limits of a member: what its keys together may spend and call. Without options, removes them. They apply within a second.",
    needs: "database",
    async run(context, input) {
      const limits = await limitsIn(context, input);
      const database = await context.database();
      const workspace = await findWorkspace(database, input.argument("workspace"));
      const { id, name, role } = await memberOf(database, workspace, input.argument("name"));
      const change = async (tx: Queryable) => {
        const row = await memberOf(tx, workspace, name);
        const { limits: before } = await withOwnLimits(tx, workspace.id, row);
        await storeLimits(tx, workspace.id, { kind: "member", row, before, after: limits, actor: ACTOR });
      };
      await repeatSpendChange(() => withWorkspaceLock(database, workspace.id, change));
      const held = presentHeld(await withOwnLimits(database, workspace.id, await memberOf(database, workspace, name)));
      const has = held.limits === null ? "no limits" : `the limits ${limitsCell(held.limits)}`;
      return {
        json: { workspace: workspace.name, workspace_id: workspace.id, id, name, role, ...held },
        text: `member ${name} of ${workspace.name} has ${has}`,
      };
    },
  },
  listCommand("end_user"),
  limitCommand("end_user"),
  listCommand("tag"),
  limitCommand("tag"),
];

function listCommand(kind: LabelSubject): Command {
  const { verb, noun, columns } = LABELS[kind];
  return {
    usage: `${verb} list <workspace> [--limit <n>]`,
    about: `Lists the ${noun}s that have a spend limit, sorted by name. Prints ${ROWS} rows by default.`,
    needs: "database",
    async run(context, input) {
      const limit = limitOf(input.option("limit"), ROWS);
      const database = await context.database();
      const workspace = await findWorkspace(database, input.argument("workspace"));
      const limits = await listLabelLimits(database, kind, { workspaceId: workspace.id, limit });
      const json = limits.map(({ object: _object, ...one }) => ({
        workspace: workspace.name,
        workspace_id: workspace.id,
        ...one,
      }));
      const cells = json.map((one) => ({ ...one, limits: limitsCell(one), spent: spentCell(one.limit_usage) }));
      return { json, text: textOf({ json: cells, columns: `${columns} limits spent warn_at` }) };
    },
  };
}

function limitCommand(kind: LabelSubject): Command {
  const { verb, noun, places, counted, labelIn, membersOf } = LABELS[kind];
  return {
    usage: `${verb} limits <workspace> ${places} ${SPEND_OPTIONS}`,
    about: `Replaces the spend limits of ${kind === "tag" ? "a" : "an"} ${noun}: what ${counted} may spend. Without options, removes them. They apply within a second.`,
    needs: "database",
    async run(context, input) {
      const text = limitsText(input);
      const label = labelIn(input);
      const database = await context.database();
      const workspace = await findWorkspace(database, input.argument("workspace"));
      const change = { workspaceId: workspace.id, label, actor: ACTOR };
      const of = { workspace: workspace.name, workspace_id: workspace.id, ...membersOf(label) };
      const subject = `${noun} ${quote(Object.values(membersOf(label)).join("="))} of ${workspace.name}`;
      if (text === "null") {
        await deleteLabelLimits(database, kind, change);
        return { json: { ...of, credits: null, warn_at: [], limit_usage: null }, text: `${subject} has no limits` };
      }
      const body = parse("LabelLimitsRequest", JSON.parse(text));
      const stored = await setLabelLimits(database, kind, change, { body, text });
      const { credits, warn_at, limit_usage } = stored;
      return {
        json: { ...of, credits, warn_at, limit_usage },
        text: `${subject} has the limits ${limitsCell(stored)}`,
      };
    },
  };
}

/** Returns the limits in the options of a command. @throws ApiError for limits that the API would refuse */
export async function limitsIn(context: Context, input: Arguments): Promise<Limits> {
  const text = `{"limits":${limitsText(input)}}`;
  const { limits } = parse("ApiKeyUpdateRequest", JSON.parse(text));
  return limitsAsked(limits ?? null, text, await context.catalogue());
}

/** Returns the spend of each limited period as text for a table, such as `1.5 this day`. */
function spentCell(usage: EndUserLimits["limit_usage"]): string {
  const cells = SPEND_WINDOWS.flatMap((window) => {
    const period = usage[window];
    return period === null
      ? []
      : [`${digitsOf(period.credits_used)} ${window === "total" ? "in total" : `this ${window}`}`];
  });
  return cells.join(", ");
}
