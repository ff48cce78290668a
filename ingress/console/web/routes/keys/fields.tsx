/** Fields that creating and changing a key share: preset, expiry, tools, limits and kept bodies. */
import type { JSX } from "preact";

import type { ApiKey, ApiKeyUpdateRequest } from "#schemas/generated/types.ts";
import { useCall } from "../../api/query.ts";
import { hasRole, session } from "../../api/session.ts";
import { type BodiesDraft, bodiesDraftOf, BodiesFields, bodiesOf } from "../../parts/bodies-form.tsx";
import { SelectField, TextField } from "../../parts/form.tsx";
import { localText, zonedTime, zoneText } from "../../parts/format.ts";
import type { Form } from "../../parts/use-form.ts";
import { draftOf, type LimitsDraft, LimitsFields, limitsOf } from "../../parts/limits-form.tsx";

export interface KeyDraft {
  readonly name: string;
  /** "" for the preset of the caller's key. */
  readonly preset: string;
  /** Local time in the chosen zone. "" for no expiry, or for the expiry of the caller's key if the key is new. */
  readonly expires: string;
  readonly tools: string;
  readonly limits: LimitsDraft;
  readonly bodies: BodiesDraft;
}

export function keyDraftOf(row?: ApiKey): KeyDraft {
  return {
    name: row?.name ?? "",
    preset: row?.preset ?? "",
    expires: localText(row?.expires_at ?? ""),
    tools: (row?.tools ?? []).join(", "),
    limits: draftOf(row?.limits),
    bodies: bodiesDraftOf(row?.bodies ?? null),
  };
}

/**
 * Returns the members of the request whose fields have changed. Others are absent, because a role may change some of them only.
 * @param row key to change; absent for a new key
 * @throws Error for a text that is not an amount, a percentage or a number of hours
 */
export function changesOf(draft: KeyDraft, row?: ApiKey): ApiKeyUpdateRequest {
  const before = keyDraftOf(row);
  const isChanged = (name: keyof KeyDraft): boolean => JSON.stringify(draft[name]) !== JSON.stringify(before[name]);
  const tools = draft.tools.split(/[\s,]+/).filter(Boolean);
  const end = draft.expires === "" ? null : zonedTime(`${draft.expires}:00`).toISOString();
  return {
    ...(isChanged("name") ? { name: draft.name.trim() } : {}),
    ...(isChanged("preset") ? { preset: draft.preset } : {}),
    ...(isChanged("expires") ? { expires_at: end } : {}),
    ...(isChanged("tools") ? { tools: tools.length === 0 ? null : tools } : {}),
    ...(isChanged("limits") ? { limits: limitsOf(draft.limits, row?.limits) } : {}),
    ...(isChanged("bodies") ? { bodies: bodiesOf(draft.bodies) } : {}),
  };
}

interface Props {
  readonly form: Form<KeyDraft>;
  /** Key to change. Absent: a new key. */
  readonly row?: ApiKey;
}

export function KeyFields({ form, row }: Props): JSX.Element {
  return (
    <>
      <div class="grid2">
        <PresetField form={form} {...(row && { row })} />
        <TextField
          label={`Expires, ${zoneText()}`}
          type="datetime-local"
          isOptional
          {...form.bind("expires", "expires_at")}
        />
      </div>
      <LimitsFields {...form.bind("limits")} />
      <TextField
        label="Tools"
        isOptional
        {...form.bind("tools")}
        placeholder="image.*, document.extract_text"
        hint={`Capabilities and workflows that the key may run: ids, categories such as image.*, or workflow.*. Empty: ${row === undefined ? "those of your key" : "all"}.`}
      />
      {hasRole("owner") ? <BodiesFields inherits {...form.bind("bodies")} /> : null}
    </>
  );
}

function PresetField({ form, row }: Props): JSX.Element {
  const presets = useCall("GET /workspaces/{workspaceId}/presets");
  const current = row?.preset ?? session.value?.preset ?? "";
  return (
    <SelectField
      label="Preset"
      {...form.bind("preset")}
      hint="Limits of calls per minute and tokens per day."
      choices={[
        row === undefined ? { value: "", text: `${current} (yours)` } : { value: current, text: current },
        ...(presets.data?.data ?? [])
          .filter(({ can_be_given: isAllowed, name }) => isAllowed && name !== current)
          .map(({ name }) => ({ value: name, text: name })),
      ]}
    />
  );
}
