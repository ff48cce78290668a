/** List of what needs attention: failing deliveries, limits and budgets near their end, unavailable models, stopped calls. */
import type { JSX } from "preact";
import { Link } from "wouter-preact";

import type { ApiKey } from "#schemas/generated/types.ts";
import { call } from "../../api/client.ts";
import { useQuery } from "../../api/query.ts";
import { hasRole } from "../../api/session.ts";
import { figureText, percentText, relativeText, zonedText } from "../../parts/format.ts";
import { Icon } from "../../parts/icon.tsx";

interface Notice {
  readonly tone: "bad" | "warn";
  readonly title: string;
  readonly detail: string;
  readonly href: string;
}

/** Share of a limit from which it is listed. */
const NEAR = 0.8;
const DAY_MS = 86_400_000;
const REFRESH_MS = 60_000;
/** Maximum number of notices of one kind. */
const NOTICES_MAX = 5;

export function Attention(): JSX.Element | null {
  const { data } = useQuery("attention", loadNotices, { everyMs: REFRESH_MS });
  if (data === undefined || data.length === 0) return null;
  return (
    <section class="section" aria-label="Needs attention">
      <div class="panel">
        <header>
          <h2>Needs attention</h2>
          <span class="muted">{data.length}</span>
        </header>
        <ul class="attn">
          {data.map(({ tone, title, detail, href }) => (
            <li key={title}>
              <Icon name={tone === "bad" ? "cross" : "warn"} tone={tone} />
              <div>
                <Link href={href}>{title}</Link>
                <span class="sub">{detail}</span>
              </div>
              <Link href={href} class="btn small">
                Open
              </Link>
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}

async function loadNotices(signal: AbortSignal): Promise<readonly Notice[]> {
  const mayManage = hasRole("owner", "admin", "developer");
  const found = await Promise.all([
    stoppedCalls(signal),
    unavailableModels(signal),
    spentBudgets(signal),
    ...(mayManage ? [failingDeliveries(signal), keysNearLimit(signal)] : []),
  ]);
  return found.flat();
}

async function stoppedCalls(signal: AbortSignal): Promise<readonly Notice[]> {
  const { calls_stopped_until: until } = await call("GET /workspaces/{workspaceId}", { signal });
  if (until === null) return [];
  const detail = `Calls are refused until ${zonedText(until)}, or until the budget is raised.`;
  return [{ tone: "bad", title: "A spent budget stops all calls", detail, href: "/budgets" }];
}

async function spentBudgets(signal: AbortSignal): Promise<readonly Notice[]> {
  const { data } = await call("GET /workspaces/{workspaceId}/budget-alerts", { query: { limit: 100 }, signal });
  return data
    .filter(({ is_active, spent, threshold_credits: threshold }) => is_active && spent >= threshold * NEAR)
    .slice(0, NOTICES_MAX)
    .map(({ name, period, spent, threshold_credits: threshold, stops_calls }) => ({
      tone: spent >= threshold ? "bad" : "warn",
      title: `The ${period} budget “${name}” is spent to ${percentText(spent, threshold)}`,
      detail: `${figureText(spent)} of ${figureText(threshold)} credits.${stops_calls ? " It stops calls when it is spent." : ""}`,
      href: "/budgets",
    }));
}

async function unavailableModels(signal: AbortSignal): Promise<readonly Notice[]> {
  const { data } = await call("GET /workspaces/{workspaceId}/unavailable-models", { signal });
  return data.slice(0, NOTICES_MAX).map(({ model, next_attempt_at }) => ({
    tone: "bad",
    title: `Every provider of ${model} is disabled after errors`,
    detail: `Calls of it fail. The next attempt is ${relativeText(next_attempt_at)}.`,
    href: `/requests?${new URLSearchParams({ model, status: "failed" })}`,
  }));
}

async function failingDeliveries(signal: AbortSignal): Promise<readonly Notice[]> {
  const { data, has_more } = await call("GET /workspaces/{workspaceId}/deliveries", {
    query: { status: "failed", endedSince: new Date(Date.now() - DAY_MS).toISOString(), limit: 100 },
    signal,
  });
  if (data.length === 0) return [];
  const count = `${data.length}${has_more ? "+" : ""}`;
  const title = `${count} ${data.length === 1 ? "delivery" : "deliveries"} failed in the last 24 hours`;
  return [
    {
      tone: "bad",
      title,
      detail: "All attempts have failed. Resend them when the receiver works.",
      href: "/notifications",
    },
  ];
}

async function keysNearLimit(signal: AbortSignal): Promise<readonly Notice[]> {
  const { data } = await call("GET /workspaces/{workspaceId}/api-keys", { query: { limit: 100 }, signal });
  return data.flatMap(noticeOf).slice(0, NOTICES_MAX);
}

function noticeOf({ id, name, status, limit_usage: usage }: ApiKey): readonly Notice[] {
  if (status !== "active" || usage === null) return [];
  for (const window of ["day", "week", "month", "total"] as const) {
    const state = usage[window];
    if (state === null) continue;
    const { credits_used: used, credits_held: held, credits_left: left, resets_at } = state;
    const limit = used + held + left;
    if (limit === 0 || used < limit * NEAR) continue;
    const resets = resets_at === null ? "" : ` It resets ${zonedText(resets_at)}.`;
    return [
      {
        tone: left === 0 ? "bad" : "warn",
        title: `Key “${name}” has used ${percentText(used, limit)} of its ${window} limit`,
        detail: `${figureText(used)} of ${figureText(limit)} credits.${resets}`,
        href: `/keys/${id}`,
      },
    ];
  }
  return [];
}
