/** List of what needs attention: failing deliveries, limits and budgets near their end, unavailable models, stopped calls. */
import type { JSX } from "preact";
import { Link } from "wouter-preact";

import type { ApiKey, LimitUsage, Member } from "#schemas/generated/types.ts";
import { allRows, call } from "../../api/client.ts";
import { useQuery } from "../../api/query.ts";
import { hasRole } from "../../api/session.ts";
import { figureText, percentText, relativeText, zonedText } from "../../parts/format.ts";
import { Icon } from "../../parts/icon.tsx";
import { limitsIn } from "../../parts/limits-form.tsx";

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
            <li key={`${href} ${title}`}>
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
    ...(mayManage ? [failingDeliveries(signal), keysNearLimit(signal), membersNearLimit(signal)] : []),
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
      title: `The ${period} budget “${name}” is spent${spent >= threshold ? "" : ` to ${percentText(spent, threshold)}`}`,
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
      detail: `All attempts have failed. Resend ${data.length === 1 ? "it" : "them"} when the receiver works.`,
      href: "/notifications",
    },
  ];
}

async function keysNearLimit(signal: AbortSignal): Promise<readonly Notice[]> {
  const keys = await allRows<ApiKey>(ROWS_MAX, (page) =>
    call("GET /workspaces/{workspaceId}/api-keys", { query: page, signal }),
  );
  return keys
    .filter(({ status }) => status === "active")
    .flatMap(({ id, name, limit_usage: usage }) => limitNotice(`Key “${name}”`, usage, `/keys/${id}`))
    .slice(0, NOTICES_MAX);
}

async function membersNearLimit(signal: AbortSignal): Promise<readonly Notice[]> {
  const members = await allRows<Member>(ROWS_MAX, (page) =>
    call("GET /workspaces/{workspaceId}/members", { query: page, signal }),
  );
  return members
    .filter(({ is_active: isActive }) => isActive)
    .flatMap(({ id, name, limit_usage: usage }) => limitNotice(`Member “${name}”`, usage, `/members/${id}`))
    .slice(0, NOTICES_MAX);
}

/** Maximum number of keys or members whose limits are read. */
const ROWS_MAX = 500;

/** Returns a notice for the limit with the largest used share, if that share is near the whole. */
function limitNotice(subject: string, usage: LimitUsage | null, href: string): readonly Notice[] {
  const nearest = limitsIn(usage).find(({ used, limit }) => limit > 0 && used >= limit * NEAR);
  if (nearest === undefined) return [];
  const { window, used, left, limit, resetsAt } = nearest;
  const resets = resetsAt === null ? "" : ` It resets ${zonedText(resetsAt)}.`;
  return [
    {
      tone: left === 0 ? "bad" : "warn",
      title: `${subject} has used ${percentText(used, limit)} of its ${window} limit`,
      detail: `${figureText(used)} of ${figureText(limit)} credits.${resets}`,
      href,
    },
  ];
}
