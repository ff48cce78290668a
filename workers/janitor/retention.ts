/** Deletes rows whose retention has ended, in bounded batches, by an index on their order. Ledger and usage are kept. */
import type { Queryable } from "#shared/database/client.ts";
import { SESSION_HOURS } from "#shared/database/console-sessions.ts";
import { OPERATOR_SESSION_HOURS } from "#shared/database/operator-sessions.ts";
import { dropExpiredAnswers } from "#shared/database/response-cache.ts";
import { REFUSED_CALL_HOURS } from "#shared/database/refused-calls.ts";
import { FAILURE_TEXT_DAYS } from "#shared/database/usage-failures.ts";
import { dropOldRetries } from "#shared/database/sweep-retries.ts";

const BATCH = 1_000;
const HOURS_PER_DAY = 24;

/** Retention of each kind of row. */
export interface Retention {
  /** Retention of events and jobs, in hours. */
  readonly hours: number;
  readonly deliveryDays: number;
  /** Retention of the audit log and of fired budgets, in days. */
  readonly auditLogDays: number;
  /** Retention of dead letters and of resolved settlement faults, in days. */
  readonly faultDays: number;
}

/** SQL fragments that select the rows to delete, one per table. $1 is the retention in hours, $2 the number of rows per batch. */
const RELAYED = `relay_progress where (workspace_id, job_id) in (
  select p.workspace_id, p.job_id from relay_progress p
  where p.at < now() - $1 * interval '1 hour' and not exists (select from hold h where h.workspace_id = p.workspace_id and h.job_id = p.job_id)
  order by p.at limit $2)`;
const FANNED_OUT_EVENTS = `event where id in (
  select id from event where fanned_out_at is not null and occurred_at < now() - $1 * interval '1 hour' order by occurred_at limit $2)`;
const PENDING_EVENTS = `event where id in (
  select id from event where fanned_out_at is null and occurred_at < now() - $1 * interval '1 hour' order by occurred_at limit $2)`;
const DELIVERIES = `delivery where id in (
  select id from delivery where ended_at < now() - $1 * interval '1 hour' order by ended_at limit $2)`;
const MAIL_COUNTS = `mail_sent where (workspace_id, mailbox, day) in (
  select workspace_id, mailbox, day from mail_sent where day < ((now() - $1 * interval '1 hour') at time zone 'UTC')::date order by day limit $2)`;
// Ids are ordered by time, or nearly, so only the oldest are read, and no index on the time is needed.
const LOGGED = `audit_log where id in (
  select id from (select id, at from audit_log order by id limit $2) oldest where at < now() - $1 * interval '1 hour')`;
// The check of an alert reads its last period again, so its firings of that period stay; otherwise it would fire twice.
const FIRINGS = `budget_firing where (alert_id, period, period_start, threshold, percent) in (
  select f.alert_id, f.period, f.period_start, f.threshold, f.percent from budget_firing f join budget_alert a on a.id = f.alert_id
  where f.at < now() - $1 * interval '1 hour' and f.period_start < budget_period_start(a.period, greatest(a.checked_day::timestamp at time zone 'UTC', a.judged_from))
  order by f.at limit $2)`;
// The periods of these notices have ended. Notices of totals are kept as long as their limit.
const NOTICES = `spend_notice where (limit_id, period, since, cap, percent) in (
  select limit_id, period, since, cap, percent from spend_notice where period <> 'total' and at < now() - $1 * interval '1 hour' order by at limit $2)`;
const LETTERS = `dead_letter where id in (
  select id from dead_letter where at < now() - $1 * interval '1 hour' order by at limit $2)`;
const FAULTS = `settle_fault where id in (
  select id from settle_fault where resolved_at < now() - $1 * interval '1 hour' order by resolved_at limit $2)`;
const NAMES = `released_name where name in (
  select name from released_name where released_at < now() - $1 * interval '1 hour' order by released_at limit $2)`;

/** SQL that deletes error texts of providers. The other columns of a failure are kept as long as its usage record. */
const FAILURE_TEXTS = `usage_failure set text = null where (workspace_id, job_id, attempt) in (
  select workspace_id, job_id, attempt from usage_failure where text is not null and at < now() - $1 * interval '1 hour' order by at limit $2)`;

const REFUSED_CALLS = `refused_call where (workspace_id, request_id) in (
  select workspace_id, request_id from refused_call where at < now() - $1 * interval '1 hour' order by at limit $2)`;

const SESSIONS = `console_session where sha256 in (
  select sha256 from console_session where created_at < now() - $1 * interval '1 hour' order by created_at limit $2)`;

const OPERATOR_SESSIONS = `operator_session where sha256 in (
  select sha256 from operator_session where created_at < now() - $1 * interval '1 hour' order by created_at limit $2)`;

const SIGN_IN_CHOICES = `sign_in_choice where sha256 in (
  select sha256 from sign_in_choice where created_at < now() - $1 * interval '1 hour' order by created_at limit $2)`;

const SIGN_IN_CODES = `sign_in_code where sha256 in (
  select sha256 from sign_in_code where created_at < now() - $1 * interval '1 hour' order by created_at limit $2)`;

const SIGN_IN_TRIES = `sign_in_try where network in (
  select network from sign_in_try where last_at < now() - $1 * interval '1 hour' order by last_at limit $2)`;

/** Days for which a released name is reserved for its previous workspace. Must equal `is_kept_for_another` in SQL. */
const NAME_DAYS = 30;
/** Days after which undelivered events are deleted. */
const PENDING_EVENT_DAYS = 14;

/** Days for which notices of spend limits are kept. A notice must be kept until its period has ended. */
const NOTICE_DAYS = 62;

export async function sweepRetention(database: Queryable, keep: Retention): Promise<void> {
  const audit = keep.auditLogDays * HOURS_PER_DAY;
  const faults = keep.faultDays * HOURS_PER_DAY;
  await drop(database, RELAYED, 1);
  await drop(database, FANNED_OUT_EVENTS, keep.hours);
  await drop(database, PENDING_EVENTS, Math.max(keep.hours, PENDING_EVENT_DAYS * HOURS_PER_DAY));
  await drop(database, DELIVERIES, keep.deliveryDays * HOURS_PER_DAY);
  await drop(database, MAIL_COUNTS, 0);
  await drop(database, LOGGED, audit);
  await drop(database, FIRINGS, audit);
  await drop(database, NOTICES, NOTICE_DAYS * HOURS_PER_DAY);
  await drop(database, LETTERS, faults);
  await drop(database, FAULTS, faults);
  await drop(database, NAMES, NAME_DAYS * HOURS_PER_DAY);
  await inBatches(database, `update ${FAILURE_TEXTS}`, FAILURE_TEXT_DAYS * HOURS_PER_DAY);
  await drop(database, REFUSED_CALLS, REFUSED_CALL_HOURS);
  await drop(database, SESSIONS, SESSION_HOURS);
  await drop(database, OPERATOR_SESSIONS, OPERATOR_SESSION_HOURS);
  await drop(database, SIGN_IN_CHOICES, 1);
  await drop(database, SIGN_IN_CODES, 1);
  await drop(database, SIGN_IN_TRIES, 1);
  while ((await dropExpiredAnswers(database, BATCH)) >= BATCH);
  while ((await dropOldRetries(database, BATCH)) >= BATCH);
}

function drop(database: Queryable, rows: string, hours: number): Promise<void> {
  return inBatches(database, `delete from ${rows}`, hours);
}

/** Runs a statement repeatedly in small batches until a batch is incomplete, so that no statement locks many rows. */
async function inBatches(database: Queryable, statement: string, hours: number): Promise<void> {
  while ((await database.query(`${statement} returning 1`, [hours, BATCH])).length === BATCH);
}
