/** SQL for the members of a workspace and the role of their keys. One statement makes a change and writes its audit row. */
import { type Actor, actorJson, logged, loggedUpdate } from "./audit-log.ts";
import { constraintName, type Database, type Queryable } from "./client.ts";

export const MEMBER_ROLES = ["owner", "admin", "developer", "billing"] as const;

export type MemberRole = (typeof MEMBER_ROLES)[number];

/** Lists of a key or member that limit its calls. An absent list allows everything. */
export interface AccessLists {
  /** Names of models, in which `*` matches any characters. */
  readonly models?: readonly string[];
  /** Names of APIs, see shared/access/endpoints.ts. */
  readonly endpoints?: readonly string[];
  /** IP addresses and CIDR ranges. */
  readonly ips?: readonly string[];
}

export interface MemberRow {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly role: MemberRole;
  readonly is_active: boolean;
  /** Lists of models, endpoints and IP addresses; null if there are none. */
  readonly access_lists: AccessLists | null;
  readonly created_at: Date;
}

interface NewMember {
  readonly id: string;
  readonly name: string;
  readonly role: MemberRole;
  readonly email?: string | null;
  readonly actor: Actor;
}

const COLUMNS = "id, name, email, role, is_active, access_lists, created_at";

/**
 * Creates a member. Returns undefined if the name, the address or the id is already used. The id of a key is used too: the spend limits of keys
 * and members have these ids.
 */
export async function insertMember(
  target: Queryable,
  workspaceId: string,
  member: NewMember,
): Promise<MemberRow | undefined> {
  const rows = await target.query<MemberRow>(
    `with changed as (
       insert into member (id, workspace_id, name, role, email)
       select $2, $1, $3, $4, $6 where not exists (select from api_key where id = $2)
       on conflict do nothing
       returning workspace_id, ${COLUMNS}
     ), ${logged("member.add", "$5", { after: "name, role, email" })}
     select ${COLUMNS} from changed`,
    [workspaceId, member.id, member.name, member.role, actorJson(member.actor), member.email ?? null],
  );
  return rows[0];
}

/** Returns the member with this name, and creates it if it is missing. An existing member keeps its role. */
export async function ensureMember(tx: Queryable, workspaceId: string, member: NewMember): Promise<MemberRow> {
  const row = (await insertMember(tx, workspaceId, member)) ?? (await findMember(tx, workspaceId, member.name));
  if (row === undefined) throw new Error(`the member ${member.name} went away while it was added`);
  return row;
}

export async function findMember(target: Queryable, workspaceId: string, name: string): Promise<MemberRow | undefined> {
  const rows = await target.query<MemberRow>(`select ${COLUMNS} from member where workspace_id = $1 and name = $2`, [
    workspaceId,
    name,
  ]);
  return rows[0];
}

/** Returns the member with this mail address (case-insensitive) in the workspace; undefined if there is none. */
export async function findMemberByEmail(
  target: Queryable,
  workspaceId: string,
  email: string,
): Promise<MemberRow | undefined> {
  const rows = await target.query<MemberRow>(
    `select ${COLUMNS} from member where workspace_id = $1 and lower(email) = lower($2)`,
    [workspaceId, email],
  );
  return rows[0];
}

export async function findMemberById(
  target: Queryable,
  workspaceId: string,
  id: string,
): Promise<MemberRow | undefined> {
  const rows = await target.query<MemberRow>(`select ${COLUMNS} from member where workspace_id = $1 and id = $2`, [
    workspaceId,
    id,
  ]);
  return rows[0];
}

export interface MemberChange {
  readonly id: string;
  readonly actor: Actor;
  /** Changes of a member. Absent members of this object stay unchanged; null deletes the e-mail address. */
  readonly name?: string;
  readonly email?: string | null;
  readonly role?: MemberRole;
  readonly isActive?: boolean;
}

const UPDATE_ACTION = `case when c.is_active and not o.is_active then 'member.enable'
            when o.is_active and not c.is_active then 'member.disable'
            when c.role <> o.role then 'member.role' else 'member.update' end`;

/**
 * Updates a member. If the member becomes disabled, its keys stop working. Returns undefined if there is no such member, or nothing
 * changed.
 * @throws Error of the driver that names the violated constraint, if another member has the name or the address
 */
export async function updateMember(
  target: Queryable,
  workspaceId: string,
  change: MemberChange,
): Promise<MemberRow | undefined> {
  const rows = await target.query<MemberRow>(
    `with old as (
       select ${COLUMNS}
       from member
       where workspace_id = $1 and id = $2
       for no key update
     ), changed as (
       update member m
       set name = coalesce($4, m.name), email = case when $5 then $6 else m.email end,
           signed_in_at = case when $5 and lower(m.email) is distinct from lower($6) then null else m.signed_in_at end, role = coalesce($7, m.role),
           is_active = coalesce($8, m.is_active)
       from old
       where m.id = old.id
         and (m.name, m.email, m.role, m.is_active) is distinct from
             (coalesce($4, m.name), case when $5 then $6 else m.email end, coalesce($7, m.role), coalesce($8, m.is_active))
       returning m.workspace_id, m.id, m.name, m.email, m.role, m.is_active, m.access_lists, m.created_at
     ), ${loggedUpdate(UPDATE_ACTION, "$3", "name, role, email, is_active")}
     select ${COLUMNS} from changed`,
    [
      workspaceId,
      change.id,
      actorJson(change.actor),
      change.name ?? null,
      change.email !== undefined,
      change.email ?? null,
      change.role ?? null,
      change.isActive ?? null,
    ],
  );
  return rows[0];
}

/** Reason for rejecting a change of a member. `last_owner`: the workspace would have no active owner left. */
type Unchanged = "last_owner" | "name_taken" | "email_taken";

/** Updated member, or the reason for rejecting the change. Undefined if there is no such member. */
export type MemberChanged = MemberRow | Unchanged | undefined;

/** Unique constraints of the member table, each with the reason that is returned when a change violates it. */
const ONCE: Readonly<Record<string, Unchanged>> = {
  member_workspace_id_name_key: "name_taken",
  member_email: "email_taken",
};

/**
 * Changes a member, but never the last active owner of a workspace. Concurrent changes in one workspace run one after the other.
 * @param check throws if the caller may not change the member in its current state
 * @param afterwards further changes of the changed member, as the last statements of the transaction
 */
export function changeMember(
  database: Database,
  workspaceId: string,
  change: MemberChange,
  {
    check,
    afterwards,
  }: {
    readonly check: (row: MemberRow) => void;
    readonly afterwards: (tx: Queryable, row: MemberRow) => Promise<void>;
  },
): Promise<MemberChanged> {
  return rolledBackTo(database, async (tx) => {
    // A weak lock: other transactions can insert rows that reference the workspace.
    await tx.query("select id from workspace where id = $1 for no key update", [workspaceId]);
    const row = await findMemberById(tx, workspaceId, change.id);
    if (row === undefined) return undefined;
    check(row);
    const changed = (await updateMember(tx, workspaceId, change)) ?? row;
    const owners = await tx.query("select id from member where workspace_id = $1 and role = 'owner' and is_active", [
      workspaceId,
    ]);
    if (owners.length === 0) throw new LastOwner();
    await afterwards(tx, changed);
    return changed;
  });
}

/** Returns true if the workspace has another active owner without limits. Call it in a transaction of `changeMember`. */
export async function hasUnlimitedOwner(target: Queryable, workspaceId: string, except: string): Promise<boolean> {
  const owners = await target.query(
    `select from member m where m.workspace_id = $1 and m.id <> $2 and m.role = 'owner' and m.is_active and m.access_lists is null
       and not exists (select from spend_limit l where l.id = m.id) limit 1`,
    [workspaceId, except],
  );
  return owners.length > 0;
}

class LastOwner extends Error {}

/** Runs `work` in a transaction. If `work` throws a reason for rejecting the change, rolls back and returns that reason. */
async function rolledBackTo<T>(database: Database, work: (tx: Queryable) => Promise<T>): Promise<T | Unchanged> {
  try {
    return await database.transaction(work);
  } catch (error) {
    const why = error instanceof LastOwner ? "last_owner" : ONCE[constraintName(error) ?? ""];
    if (why === undefined) throw error;
    return why;
  }
}

/**
 * Returns a page of members, newest first, that starts behind the member `after`. Callers may choose member ids, so ids do not sort by
 * time.
 */
export function pageMembers(
  target: Queryable,
  workspaceId: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<MemberRow[]> {
  return target.query<MemberRow>(
    `select ${COLUMNS} from member
     where workspace_id = $1
       and ($2::uuid is null or (created_at, id) < (select created_at, id from member where workspace_id = $1 and id = $2))
     order by created_at desc, id desc
     limit $3`,
    [workspaceId, after, limit],
  );
}

export async function countMembers(target: Queryable, workspaceId: string): Promise<number> {
  const rows = await target.query<{ count: number }>(
    "select count(*)::int as count from member where workspace_id = $1",
    [workspaceId],
  );
  return rows[0]?.count ?? 0;
}
