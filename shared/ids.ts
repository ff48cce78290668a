/** Ids of every kind. UUIDv7 sorts by time, which keeps index pages of hot tables warm. */

export function newId(): string {
  return Bun.randomUUIDv7();
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function isUuid(value: string): boolean {
  return UUID.test(value);
}
