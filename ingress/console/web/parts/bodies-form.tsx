/** Setting for kept requests and responses, of the workspace or of a key. */
import type { JSX } from "preact";

import type { BodySetting } from "#schemas/generated/types.ts";
import type { ApiFault } from "../api/client.ts";
import { CheckField, type Choice, SelectField, TextField } from "./form.tsx";

type Pattern = NonNullable<NonNullable<BodySetting["redact"]>["patterns"]>[number];

const PATTERNS: Readonly<Record<Pattern, string>> = {
  emails: "e-mail addresses",
  card_numbers: "card numbers",
  phone_numbers: "phone numbers",
};

const KEEP: readonly Choice[] = [
  { value: "none", text: "No" },
  { value: "errors", text: "Of failed calls" },
  { value: "all", text: "Of all calls" },
];

export interface BodiesDraft {
  /** "" for a key to which the workspace's setting applies. */
  readonly keep: BodySetting["keep"] | "";
  readonly hours: string;
  readonly members: string;
  readonly patterns: readonly Pattern[];
}

export function bodiesDraftOf(setting: BodySetting | null): BodiesDraft {
  return {
    keep: setting?.keep ?? "",
    hours: String(setting?.retention_hours ?? ""),
    members: (setting?.redact?.members ?? []).join(", "),
    patterns: setting?.redact?.patterns ?? [],
  };
}

/** Returns the setting of a draft; null if the workspace's setting applies. @throws Error for hours that are no whole number */
export function bodiesOf({ keep, hours, members, patterns }: BodiesDraft): BodySetting | null {
  if (keep === "") return null;
  if (!/^\d*$/.test(hours.trim())) throw new Error(`Expected a whole number of hours such as 168, got “${hours}”.`);
  return {
    keep,
    ...(hours.trim() === "" ? {} : { retention_hours: Number(hours) }),
    redact: { members: members.split(/[\s,]+/).filter(Boolean), patterns: [...patterns] },
  };
}

export function BodiesFields({
  value: draft,
  onInput,
  fault,
  inherits,
}: {
  readonly value: BodiesDraft;
  readonly onInput: (draft: BodiesDraft) => void;
  readonly fault: ApiFault | undefined;
  /** True for a key, to which the workspace's setting can apply. */
  readonly inherits?: boolean;
}): JSX.Element {
  const { keep, hours, members, patterns } = draft;
  return (
    <>
      <SelectField
        label="Keep requests and responses"
        value={keep}
        onInput={(value) => onInput({ ...draft, keep: value })}
        param="bodies.keep"
        fault={fault}
        hint="Kept bodies are encrypted, and deleted after the retention time."
        choices={inherits === true ? [{ value: "", text: "As the workspace" }, ...KEEP] : KEEP}
      />
      {keep === "" || keep === "none" ? null : (
        <>
          <TextField
            label="Delete them after"
            unit="hours"
            isOptional
            value={hours}
            onInput={(value) => onInput({ ...draft, hours: value })}
            placeholder="168"
            param="bodies.retention_hours"
            fault={fault}
          />
          <TextField
            label="Fields to redact"
            isOptional
            value={members}
            onInput={(value) => onInput({ ...draft, members: value })}
            placeholder="email, address"
            param="bodies.redact.members"
            fault={fault}
            hint="Names of JSON fields whose values are replaced before a body is stored."
          />
          {Object.entries(PATTERNS).map(([name, text]) => (
            <CheckField
              key={name}
              label={`Redact ${text}`}
              isChecked={patterns.includes(name as Pattern)}
              onInput={(isChecked) => {
                const others = patterns.filter((one) => one !== name);
                onInput({ ...draft, patterns: isChecked ? [...others, name as Pattern] : others });
              }}
            />
          ))}
        </>
      )}
    </>
  );
}
