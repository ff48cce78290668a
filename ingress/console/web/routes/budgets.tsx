/** Budgets and alerts: thresholds on the spend of a period, and on the balance. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";

import type { BalanceAlert, BudgetAlert } from "#schemas/generated/types.ts";
import { call } from "../api/client.ts";
import { type Query, useCall } from "../api/query.ts";
import { hasRole } from "../api/session.ts";
import { Button, CheckField, choicesOf, creditsIn, Segments, SelectField, TextField } from "../parts/form.tsx";
import { daysText, figureText } from "../parts/format.ts";
import { Callout, FormDialog, Menu } from "../parts/layers.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Empty, type ListPage, ListPanel } from "../parts/table.tsx";
import { toast } from "../parts/toast.tsx";
import { type DialogProps, useForm } from "../parts/use-form.ts";
import { Ago, BudgetBar, Status } from "../parts/values.tsx";
import { LabelLimits } from "./budgets/label-limits.tsx";

type Alert = BudgetAlert | BalanceAlert;

const NAME = { head: "Name", place: "main", cut: "38%", title: ({ name, id }: Alert) => `${name} (${id})` } as const;

/** Periods in the words of limits. */
const WINDOWS: Readonly<Record<BudgetAlert["period"], string>> = { daily: "day", weekly: "week", monthly: "month" };

export default function Budgets(): JSX.Element {
  const [open, setOpen] = useState<"budget" | "balance">();
  const [created, setCreated] = useState<Alert>();
  const mayChange = hasRole("owner", "admin", "billing");
  const budgets = useCall("GET /workspaces/{workspaceId}/budget-alerts", { query: { limit: 100 } });
  const balances = useCall("GET /workspaces/{workspaceId}/balance-alerts", { query: { limit: 100 } });
  const close = (): void => setOpen(undefined);
  const saved = (alert?: Alert): void => {
    setCreated(alert);
    budgets.reload();
    balances.reload();
  };
  const actionsOf = (alert: Alert): JSX.Element | null =>
    mayChange ? (
      <Menu
        label={`Actions of ${alert.name}`}
        entries={[
          {
            text: alert.is_active ? "Disable alert" : "Enable alert",
            onClick: () =>
              void setActive(alert, !alert.is_active).then(
                () => saved(),
                (error: Error) => toast(error.message, "bad"),
              ),
          },
          {
            text: "Delete alert",
            confirm: {
              title: `Delete “${alert.name}”?`,
              effect: "It sends no further notices. Calls that it stops are accepted again within seconds.",
              action: `Delete “${alert.name}”`,
              run: () => remove(alert).then(() => saved()),
            },
          },
        ]}
      />
    ) : null;
  return (
    <Page
      title="Budgets and alerts"
      about="A budget counts the spend of the whole workspace in a period. Limits of keys and members are set on their pages."
      actions={
        mayChange ? (
          <>
            <Button onClick={() => setOpen("balance")}>Create balance alert</Button>
            <Button kind="primary" icon="plus" onClick={() => setOpen("budget")}>
              Create budget
            </Button>
          </>
        ) : undefined
      }
    >
      {created === undefined || created.events_without_channel.length === 0 ? null : (
        <Callout tone="warn">
          “{created.name}” is created. <NoChannel alert={created} />
        </Callout>
      )}
      <BudgetList query={budgets} actionsOf={actionsOf} />
      <BalanceList query={balances} actionsOf={actionsOf} />
      {hasRole("owner", "admin") ? <LabelLimits /> : null}
      {open === "budget" ? <BudgetDialog onClose={close} onSaved={saved} /> : null}
      {open === "balance" ? <BalanceDialog onClose={close} onSaved={saved} /> : null}
    </Page>
  );
}

/** Budgets with their spend in the current period. */
function BudgetList({
  query,
  actionsOf,
}: {
  readonly query: Query<ListPage<BudgetAlert>>;
  readonly actionsOf: (alert: Alert) => JSX.Element | null;
}): JSX.Element {
  return (
    <Section title="Budgets">
      <ListPanel
        query={query}
        idOf={({ id }) => id}
        columns={[
          {
            ...NAME,
            cell: ({ name }) => name,
            sub: ({ stops_calls, warn_at }) => (
              <span class="whole">
                {warn_at.length === 0 ? "" : `warns at ${warn_at.map((percent) => `${percent} %`).join(", ")}; `}
                {stops_calls ? "stops calls when it is spent" : "sends a notice when it is spent"}
              </span>
            ),
          },
          {
            head: "Spend, credits",
            place: "brk",
            cell: ({ spent, threshold_credits, period }) => (
              <BudgetBar used={spent} limit={threshold_credits} window={WINDOWS[period]} />
            ),
            sub: (budget) => <NoChannel alert={budget} />,
          },
          {
            head: "Status",
            place: "key",
            cell: (budget) => <Status of={stateOf(budget)} />,
          },
          {
            head: "Last reached",
            place: "mid",
            label: "last reached",
            cell: ({ last_fired_at }) => <Ago at={last_fired_at} />,
          },
          { head: <span class="sr">Actions</span>, cell: actionsOf },
        ]}
        empty={
          <Empty title="No budgets">
            <p>A budget warns at chosen percentages of a daily, weekly or monthly spend, and can stop all calls.</p>
          </Empty>
        }
      />
    </Section>
  );
}

/** Balance alerts with the current balance. */
function BalanceList({
  query,
  actionsOf,
}: {
  readonly query: Query<ListPage<BalanceAlert>>;
  readonly actionsOf: (alert: Alert) => JSX.Element | null;
}): JSX.Element {
  return (
    <Section title="Balance alerts">
      <ListPanel
        query={query}
        idOf={({ id }) => id}
        columns={[
          {
            ...NAME,
            cell: (alert) => (
              <>
                {alert.name}
                <span class="sub">
                  {alert.below_credits === null
                    ? `below ${alert.below_days} days`
                    : `below ${figureText(alert.below_credits)} credits`}
                </span>
                <span class="sub">
                  <NoChannel alert={alert} />
                </span>
              </>
            ),
          },
          {
            head: "Now",
            place: "mid",
            label: "now",
            isNumber: true,
            cell: ({ below_credits, available, days_left }) =>
              below_credits === null
                ? days_left === null
                  ? "no spend"
                  : daysText(days_left)
                : `${figureText(available)} credits`,
          },
          {
            head: "Status",
            place: "key",
            cell: ({ is_active, is_low }) => <Status of={is_active ? (is_low ? "reached" : "active") : "disabled"} />,
          },
          {
            head: "Last reached",
            place: "mid",
            label: "last reached",
            cell: ({ last_fired_at }) => <Ago at={last_fired_at} />,
          },
          { head: <span class="sr">Actions</span>, cell: actionsOf },
        ]}
        empty={
          <Empty title="No balance alerts">
            <p>A balance alert sends a notice before the credits run out.</p>
          </Empty>
        }
      />
    </Section>
  );
}

/** Names the events of an active alert that reach no one. */
function NoChannel({ alert }: { readonly alert: Alert }): JSX.Element | null {
  const { is_active, events_without_channel: events } = alert;
  if (!is_active || events.length === 0) return null;
  return (
    <>
      No enabled channel is subscribed to {events.join(" and ")}.{" "}
      {hasRole("owner", "admin", "developer") ? <Link href="/notifications">Open Notifications</Link> : null}
    </>
  );
}

/** State of a budget: `reached` and `warned` when the spend is at or near it. */
function stateOf({ is_active, spent, threshold_credits: threshold }: BudgetAlert): string {
  if (!is_active) return "disabled";
  return spent >= threshold ? "reached" : spent >= 0.8 * threshold ? "warned" : "active";
}

function setActive({ object, id }: Alert, isActive: boolean): Promise<unknown> {
  const options = { path: { alertId: id }, body: { is_active: isActive } };
  return object === "budget_alert"
    ? call("PATCH /workspaces/{workspaceId}/budget-alerts/{alertId}", options)
    : call("PATCH /workspaces/{workspaceId}/balance-alerts/{alertId}", options);
}

function remove({ object, id }: Alert): Promise<unknown> {
  const options = { path: { alertId: id } };
  return object === "budget_alert"
    ? call("DELETE /workspaces/{workspaceId}/budget-alerts/{alertId}", options)
    : call("DELETE /workspaces/{workspaceId}/balance-alerts/{alertId}", options);
}

function BudgetDialog(dialog: DialogProps<Alert>): JSX.Element {
  const form = useForm(
    { name: "", amount: "", period: "monthly", warnAt: "80", stops: false },
    async ({ name, amount, period, warnAt, stops }: BudgetFields) =>
      call("POST /workspaces/{workspaceId}/budget-alerts", {
        body: {
          name: name.trim(),
          threshold_credits: amountOf(amount),
          period,
          stops_calls: stops,
          warn_at: warnAt
            .split(/[\s,]+/)
            .filter(Boolean)
            .map(Number),
        },
      }),
    dialog,
  );
  return (
    <FormDialog
      title="Create budget"
      hint={NOTICES}
      onClose={dialog.onClose}
      action="Create budget"
      submit={form}
      blocked={blockedWithout(form.values.name)}
    >
      <TextField label="Name" {...form.bind("name")} isRequired />
      <div class="grid2">
        <TextField label="Budget" unit="credits" {...form.bind("amount", "threshold_credits")} />
        <SelectField
          label="Period, in UTC"
          {...form.bind("period")}
          choices={choicesOf({ daily: "Day", weekly: "Week, from Monday", monthly: "Month" })}
        />
      </div>
      <TextField
        label="Warn at"
        {...form.bind("warnAt", "warn_at")}
        isOptional
        hint="Percentages of the budget, such as 50, 80."
      />
      <CheckField
        label="Refuse calls with 402 when the budget is spent, until the period ends"
        isChecked={form.values.stops}
        onInput={(stops) => form.set({ stops })}
      />
    </FormDialog>
  );
}

interface BudgetFields {
  readonly name: string;
  readonly amount: string;
  readonly period: BudgetAlert["period"];
  readonly warnAt: string;
  readonly stops: boolean;
}

/** Says where the notices of an alert arrive. */
const NOTICES = "Notices are sent to the channels under Notifications that are subscribed to them.";

function BalanceDialog(dialog: DialogProps<Alert>): JSX.Element {
  const form = useForm(
    { name: "", kind: "days", amount: "" },
    async ({ name, kind, amount }) => {
      const value = amountOf(amount);
      return call("POST /workspaces/{workspaceId}/balance-alerts", {
        body: { name: name.trim(), ...(kind === "days" ? { below_days: value } : { below_credits: value }) },
      });
    },
    dialog,
  );
  const { name, kind } = form.values;
  return (
    <FormDialog
      title="Create balance alert"
      hint={NOTICES}
      onClose={dialog.onClose}
      action="Create balance alert"
      submit={form}
      blocked={blockedWithout(name)}
    >
      <TextField label="Name" {...form.bind("name")} isRequired />
      <Segments
        label="Notice when the balance"
        {...form.bind("kind")}
        choices={choicesOf({ days: "lasts fewer days", credits: "has fewer credits" })}
      />
      <TextField
        label="Fewer than"
        unit={kind}
        {...form.bind("amount", kind === "days" ? "below_days" : "below_credits")}
        hint={kind === "days" ? "At the mean spend of the last seven days." : undefined}
      />
    </FormDialog>
  );
}

/** @throws Error for a text that is not a number */
function amountOf(text: string): number {
  const amount = creditsIn(text);
  if (amount === undefined || Number.isNaN(amount)) throw new Error(`Expected a number, got “${text}”.`);
  return amount;
}

/** Returns the reason why an alert without a name cannot be created. */
function blockedWithout(name: string): string | undefined {
  return name.trim() === "" ? "Enter a name." : undefined;
}
