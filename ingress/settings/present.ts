/** Presents rows, alike for members of a workspace and for operators. */
import type { LedgerEntry, Member } from "#schemas/generated/types.ts";
import type { LedgerRow } from "#shared/database/credits.ts";
import type { MemberRow } from "#shared/database/members.ts";
import { creditsNumber } from "#shared/money.ts";

export function presentMember(row: MemberRow): Member {
  return {
    object: "member",
    id: row.id,
    name: row.name,
    email: row.email,
    role: row.role,
    is_active: row.is_active,
    created_at: row.created_at.toISOString(),
  };
}

export function presentLedgerEntry(row: LedgerRow): LedgerEntry {
  return {
    object: "ledger_entry",
    id: String(row.id),
    kind: row.kind,
    credits: creditsNumber(row.amount),
    source_id: row.source_id,
    attempt: row.attempt,
    note: row.note,
    at: row.at.toISOString(),
  };
}
