/** Members: people and services of the workspace, their roles and limits. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { Member } from "#schemas/generated/types.ts";
import { call } from "../api/client.ts";
import { useAction, useQuery } from "../api/query.ts";
import { hasRole, type Role, session } from "../api/session.ts";
import { Button, CheckField, FaultText, SelectField, TextField } from "../parts/form.tsx";
import { timeText } from "../parts/format.ts";
import { ConfirmDialog, FaultCallout, FormDialog, Menu, Sheet, type SheetControls } from "../parts/layers.tsx";
import { draftOf, LimitBars, LimitsFields, limitsOf } from "../parts/limits-form.tsx";
import { Page } from "../parts/page.tsx";
import { Empty, ListPanel, Skeleton, useCursor, useOpenRow } from "../parts/table.tsx";
import { toast } from "../parts/toast.tsx";
import { Id, KeyValues, Status } from "../parts/values.tsx";

const ROLES: Readonly<Record<Role, string>> = {
  owner: "Owner: everything",
  admin: "Admin: everything except owners",
  developer: "Developer: calls, own keys and workflows",
  billing: "Billing: credits and usage",
};

type Open = { readonly kind: "create" } | { readonly kind: "edit" | "delete"; readonly member: Member } | undefined;

export default function Members(): JSX.Element {
  const [dialog, setDialog] = useState<Open>();
  const cursor = useCursor("");
  const list = useQuery(`members ${cursor.after ?? ""}`, (signal) =>
    call("GET /workspaces/{workspaceId}/members", { query: { limit: 50, after: cursor.after }, signal }),
  );
  const mayChange = hasRole("owner", "admin");
  const close = (): void => setDialog(undefined);
  const changed = (): void => {
    close();
    list.reload();
  };
  const open = useOpenRow("/members", list, ({ id }) => id);
  return (
    <Page
      title="Members"
      isWide
      about="A member has keys. The limits of a member bind all of its keys together."
      actions={
        mayChange ? (
          <Button kind="primary" icon="plus" onClick={() => setDialog({ kind: "create" })}>
            Add member
          </Button>
        ) : undefined
      }
      sheet={open.id && <MemberSheet key={open.id} id={open.id} row={open.row} {...open.sheet} />}
    >
      <ListPanel
        query={list}
        cursor={cursor}
        idOf={(member) => member.id}
        open={open}
        columns={[
          {
            head: "Name",
            place: "main",
            cut: "38%",
            title: (member) => `${member.name} (${member.id})`,
            cell: ({ name }) => name,
            sub: ({ email }) => email,
          },
          { head: "Role", place: "key", cell: ({ role }) => ROLES[role].split(":")[0] },
          { head: "Status", place: "mid", cell: ({ is_active }) => <Status of={is_active ? "active" : "disabled"} /> },
          {
            head: "Spend limit, credits",
            place: "brk",
            cell: ({ limits, limit_usage }) => <LimitBars limits={limits} usage={limit_usage} isShort />,
          },
          {
            head: <span class="sr">Actions</span>,
            cell: (member) =>
              mayChange ? (
                <Menu
                  label={`Actions of ${member.name}`}
                  entries={[
                    { text: "Change member", onClick: () => setDialog({ kind: "edit", member }) },
                    { text: "Delete member", isDangerous: true, onClick: () => setDialog({ kind: "delete", member }) },
                  ]}
                />
              ) : null,
          },
        ]}
        empty={<Empty title="No members" />}
      />
      {dialog?.kind === "create" ? <MemberDialog member={undefined} onClose={close} onSaved={changed} /> : null}
      {dialog?.kind === "edit" ? <MemberDialog member={dialog.member} onClose={close} onSaved={changed} /> : null}
      {dialog?.kind === "delete" ? (
        <ConfirmDialog
          title={`Delete “${dialog.member.name}”?`}
          effect="The member is disabled and its mail address is deleted. Its calls are refused within a second. Its name stays in the audit log."
          action={`Delete “${dialog.member.name}”`}
          onClose={close}
          run={async () => {
            await call("DELETE /workspaces/{workspaceId}/members/{memberId}", { path: { memberId: dialog.member.id } });
            toast(`Member “${dialog.member.name}” is deleted`);
            list.reload();
          }}
        />
      ) : null}
    </Page>
  );
}

/** Limits and facts of one member, who may be on another page of the list. */
function MemberSheet({
  id,
  row,
  ...controls
}: SheetControls & {
  readonly id: string;
  /** The member in the list; undefined if the shown page does not contain it. */
  readonly row: Member | undefined;
}): JSX.Element {
  const query = useQuery(row === undefined ? `member ${id}` : "", (signal) =>
    call("GET /workspaces/{workspaceId}/members/{memberId}", { path: { memberId: id }, signal }),
  );
  const member = row ?? query.data;
  return (
    <Sheet title={member?.name ?? "Member"} {...controls}>
      {member === undefined ? (
        query.fault === undefined ? (
          <Skeleton />
        ) : (
          <FaultCallout fault={query.fault} retry={query.reload} />
        )
      ) : (
        <>
          <section>
            <Status of={member.is_active ? "active" : "disabled"} />
            <LimitBars limits={member.limits} usage={member.limit_usage} />
          </section>
          <section>
            <h3>Details</h3>
            <KeyValues
              of={[
                ["Role", member.role],
                ["Email", member.email],
                ["Id", <Id value={member.id} label="member id" />],
                ["Models", member.limits?.models?.join(", ") ?? "All"],
                ["Endpoints", member.limits?.endpoints?.join(", ") ?? "All"],
                ["Addresses", member.limits?.ips?.join(", ") ?? "All"],
                ["Created", timeText(member.created_at, "minute")],
              ]}
            />
          </section>
        </>
      )}
    </Sheet>
  );
}

/** Creates or changes a member. */
function MemberDialog({
  member,
  onClose,
  onSaved,
}: {
  readonly member: Member | undefined;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}): JSX.Element {
  const [name, setName] = useState(member?.name ?? "");
  const [email, setEmail] = useState(member?.email ?? "");
  const [role, setRole] = useState<Role>(member?.role ?? "developer");
  const [isActive, setActive] = useState(member?.is_active ?? true);
  const [limits, setLimits] = useState(draftOf(member?.limits));
  const save = useAction(async () => {
    const body = { name: name.trim(), role, limits: limitsOf(limits, member?.limits) };
    if (member === undefined) {
      await call("POST /workspaces/{workspaceId}/members", {
        body: { ...body, ...(email.trim() === "" ? {} : { email: email.trim() }) },
      });
    } else {
      await call("PATCH /workspaces/{workspaceId}/members/{memberId}", {
        path: { memberId: member.id },
        body: { ...body, email: email.trim() === "" ? null : email.trim(), is_active: isActive },
      });
    }
    onSaved();
  });
  const { fault } = save;
  const roles = Object.entries(ROLES).filter(([value]) => value !== "owner" || session.value?.role === "owner");
  return (
    <FormDialog
      title={member === undefined ? "Add member" : `Change “${member.name}”`}
      onClose={onClose}
      action={member === undefined ? "Add member" : "Save member"}
      submit={save}
      blocked={name.trim() === "" ? "Enter a name." : undefined}
    >
      <TextField label="Name" value={name} onInput={setName} param="name" fault={fault} isRequired />
      <TextField
        label="Email"
        type="email"
        value={email}
        onInput={setEmail}
        isOptional
        param="email"
        fault={fault}
        hint="For notices, and for the sign-in with an identity provider."
      />
      <SelectField
        label="Role"
        value={role}
        onInput={(value) => setRole(value as Role)}
        param="role"
        fault={fault}
        choices={roles.map(([value, text]) => ({ value, text }))}
      />
      {member === undefined ? null : (
        <CheckField
          label="Active. The keys of a disabled member are refused within a second."
          isChecked={isActive}
          onInput={setActive}
        />
      )}
      <LimitsFields draft={limits} onInput={setLimits} fault={fault} />
      <FaultText fault={fault} />
    </FormDialog>
  );
}
