/** Members: people and services of the workspace, their roles and limits. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { Member } from "#schemas/generated/types.ts";
import { call } from "../api/client.ts";
import { useCall } from "../api/query.ts";
import { hasRole, type Role, session } from "../api/session.ts";
import { Button, CheckField, choicesOf, SelectField, TextField } from "../parts/form.tsx";
import { timeText } from "../parts/format.ts";
import { FormDialog, Menu, Sheet, type SheetControls } from "../parts/layers.tsx";
import { draftOf, LimitBars, LimitsFields, limitsOf } from "../parts/limits-form.tsx";
import { Page } from "../parts/page.tsx";
import { Empty, ListPanel, Loaded, useList, useOpenRow } from "../parts/table.tsx";
import { toast } from "../parts/toast.tsx";
import { type DialogProps, useForm } from "../parts/use-form.ts";
import { Id, KeyValues, Status } from "../parts/values.tsx";

const ROLES: Readonly<Record<Role, string>> = {
  owner: "Owner: everything",
  admin: "Admin: everything except owners",
  developer: "Developer: calls, own keys and workflows",
  billing: "Billing: credits and usage",
};

export default function Members(): JSX.Element {
  const [edited, setEdited] = useState<Member | "new">();
  const list = useList("GET /workspaces/{workspaceId}/members");
  const mayChange = hasRole("owner", "admin");
  const open = useOpenRow("/members", list, ({ id }) => id);
  return (
    <Page
      title="Members"
      isWide
      about="A member has keys. The limits of a member bind all of its keys together."
      actions={
        mayChange ? (
          <Button kind="primary" icon="plus" onClick={() => setEdited("new")}>
            Add member
          </Button>
        ) : undefined
      }
      sheet={open.id && <MemberSheet key={open.id} id={open.id} row={open.row} {...open.sheet} />}
    >
      <ListPanel
        query={list}
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
          {
            head: "Status",
            place: "mid",
            label: "",
            cell: ({ is_active }) => (
              <span class={is_active ? "none" : ""}>
                <Status of={is_active ? "active" : "disabled"} />
              </span>
            ),
          },
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
                    { text: "Change member", onClick: () => setEdited(member) },
                    {
                      text: "Delete member",
                      confirm: {
                        title: `Delete “${member.name}”?`,
                        effect:
                          "The member is disabled and its mail address is deleted. Its calls are refused within a second. Its name stays in the audit log.",
                        action: `Delete “${member.name}”`,
                        run: async () => {
                          const path = { memberId: member.id };
                          await call("DELETE /workspaces/{workspaceId}/members/{memberId}", { path });
                          toast(`Member “${member.name}” is deleted`);
                          list.reload();
                        },
                      },
                    },
                  ]}
                />
              ) : null,
          },
        ]}
        empty={<Empty title="No members" />}
      />
      {edited === undefined ? null : (
        <MemberDialog
          member={edited === "new" ? undefined : edited}
          onClose={() => setEdited(undefined)}
          onSaved={list.reload}
        />
      )}
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
  const query = useCall(
    "GET /workspaces/{workspaceId}/members/{memberId}",
    row === undefined ? { path: { memberId: id } } : null,
  );
  return (
    <Sheet title={(row ?? query.data)?.name ?? "Member"} {...controls}>
      <Loaded query={{ ...query, data: row ?? query.data }}>
        {(member) => (
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
      </Loaded>
    </Sheet>
  );
}

/** Creates or changes a member. */
function MemberDialog({ member, ...dialog }: DialogProps & { readonly member: Member | undefined }): JSX.Element {
  const form = useForm(
    {
      name: member?.name ?? "",
      email: member?.email ?? "",
      role: member?.role ?? "developer",
      isActive: member?.is_active ?? true,
      limits: draftOf(member?.limits),
    },
    ({ name, email, role, isActive, limits }) => {
      const body = { name: name.trim(), role, limits: limitsOf(limits, member?.limits) };
      return member === undefined
        ? call("POST /workspaces/{workspaceId}/members", {
            body: { ...body, ...(email.trim() === "" ? {} : { email: email.trim() }) },
          })
        : call("PATCH /workspaces/{workspaceId}/members/{memberId}", {
            path: { memberId: member.id },
            body: { ...body, email: email.trim() === "" ? null : email.trim(), is_active: isActive },
          });
    },
    dialog,
  );
  const { values } = form;
  return (
    <FormDialog
      title={member === undefined ? "Add member" : `Change “${member.name}”`}
      onClose={dialog.onClose}
      action={member === undefined ? "Add member" : "Save member"}
      submit={form}
      blocked={values.name.trim() === "" ? "Enter a name." : undefined}
    >
      <TextField label="Name" {...form.bind("name")} isRequired />
      <TextField
        label="Email"
        type="email"
        {...form.bind("email")}
        isOptional
        hint="For notices, and for the sign-in with an identity provider."
      />
      <SelectField
        label="Role"
        {...form.bind("role")}
        choices={choicesOf(ROLES).filter(({ value }) => value !== "owner" || session.value?.role === "owner")}
      />
      {member === undefined ? null : (
        <CheckField
          label="Active. The keys of a disabled member are refused within a second."
          isChecked={values.isActive}
          onInput={(isActive) => form.set({ isActive })}
        />
      )}
      <LimitsFields {...form.bind("limits")} />
    </FormDialog>
  );
}
