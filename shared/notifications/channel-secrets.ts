/** Encrypts and decrypts the secrets in a channel's row. */
import type { SealedPlace, Sealer } from "#shared/secrets/sealed.ts";

type Values = Readonly<Record<string, string>>;

interface ChannelKey {
  readonly workspaceId: string;
  readonly id: string;
}

const placeOf = ({ workspaceId, id }: ChannelKey, field: string): SealedPlace => ({
  workspaceId,
  table: "notification_channel",
  row: id,
  field,
});

export function sealAll(sealer: Sealer, channel: ChannelKey, secrets: Values): Record<string, string> {
  return mapValues(secrets, (secret, field) => sealer.seal(placeOf(channel, field), secret));
}

/** Decrypts all secrets of a channel. @throws Error if one of them was not encrypted for this channel */
export function openAll(sealer: Sealer, channel: ChannelKey, sealed: Values): Record<string, string> {
  return mapValues(sealed, (text, field) => sealer.open(placeOf(channel, field), text));
}

function mapValues(values: Values, change: (value: string, name: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value, name)]));
}
