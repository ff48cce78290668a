import { expect, test } from "bun:test";

import { runWhole } from "#shared/base/time-slices.ts";
import { redactingJson, redactText } from "#shared/kept-bodies/redact.ts";
import type { RedactionRules } from "#shared/base/body-setting.ts";

const MEMBERS: RedactionRules = { members: ["email", "phone"], patterns: [] };
const PATTERNS: RedactionRules = { members: [], patterns: ["emails", "card_numbers", "phone_numbers"] };

const redact = (text: string, rules: RedactionRules): string => runWhole(redactingJson(text, rules));
const redacted = (value: unknown, rules: RedactionRules): unknown => JSON.parse(redact(JSON.stringify(value), rules));

test("values of named members are replaced at any depth, whatever their type and the case of the name", () => {
  const value = { EMAIL: "a", list: [{ phone: { home: ['}"]'], work: 1 }, name: "Ada" }], email: null, mail: "stays" };
  expect(redacted(value, MEMBERS)).toEqual({
    EMAIL: "[redacted]",
    list: [{ phone: "[redacted]", name: "Ada" }],
    email: "[redacted]",
    mail: "stays",
  });
});

test("a member whose name is written with escapes is replaced", () => {
  expect(redact('{"\\u0065mail" : "x"}', MEMBERS)).toBe('{"\\u0065mail" : "[redacted]"}');
});

test("members of JSON inside of strings are replaced, such as arguments of a tool", () => {
  const inner = JSON.stringify({ email: 'quoted "text"', deep: JSON.stringify({ phone: 1, b: 2 }) });
  const { arguments: text } = redacted({ arguments: inner }, MEMBERS) as { arguments: string };
  const { email, deep } = JSON.parse(text) as { email: string; deep: string };
  expect([email, JSON.parse(deep)]).toEqual(["[redacted]", { phone: "[redacted]", b: 2 }]);
});

test("a text that does not change keeps every character", () => {
  const text = ' { "a" : [ 1.50 , -2e3, true ], "b":"\\u00e4\\n\\"" } ';
  expect(redact(text, { ...PATTERNS, members: MEMBERS.members })).toBe(text);
});

test("a text that is cut off is redacted too", () => {
  expect(redact('{"a":"x","email":"half of an addr', MEMBERS)).toBe('{"a":"x","email":"[redacted]"');
  expect(redact('{"phone":{"home":["1', MEMBERS)).toBe('{"phone":"[redacted]"');
  expect(redact('{"arguments":"{\\"email\\":\\"ab', MEMBERS)).toBe('{"arguments":"{\\"email\\":\\"[redacted]\\"');
  expect(redact('{"a":"x\\u00', PATTERNS)).toBe('{"a":"x\\u00');
  expect(redact('{"a":"mail joe@example.com\\u00', PATTERNS)).toBe('{"a":"mail [redacted]');
});

test("a text that is not JSON is redacted without an error", () => {
  expect(redact('{"email" "x", ]}', MEMBERS)).toBe('{"email" "x", ]}');
  expect(redact("joe@example.com", PATTERNS)).toBe("joe@example.com");
  expect(redactText("joe@example.com", PATTERNS)).toBe("[redacted]");
});

test("addresses are replaced in texts, also beside punctuation and with escapes", () => {
  const text = "Write to joe.doe+x@mail.example.co.uk, <jürgen@münchen.de>. not@host, @name and a@b stay.";
  expect(redactText(text, PATTERNS)).toBe("Write to [redacted], <[redacted]>. not@host, @name and a@b stay.");
  expect(redact('["joe\\u0040example.com"]', PATTERNS)).toBe('["[redacted]"]');
});

test("card numbers with a valid check digit are replaced, as texts and as numbers", () => {
  const value = {
    spaced: "4111 1111 1111 1111 valid thru 12 2030",
    dashed: "3782-822463-10005",
    plain: 4242424242424242,
    wrong: "4111 1111 1111 1112",
    time: 1764465600000,
    vector: [0.4242424242424242, -4.242424242424242],
    id: "424242424242424242424242",
  };
  expect(redacted(value, PATTERNS)).toEqual({
    ...value,
    spaced: "[redacted] valid thru 12 2030",
    dashed: "[redacted]",
    plain: "[redacted]",
  });
});

test("phone numbers in international form are replaced", () => {
  expect(redactText("+49 30 123456 or +1 (415) 555-2671; 2+2, +1, 030 123456", PATTERNS)).toBe(
    "[redacted] or [redacted]; 2+2, +1, 030 123456",
  );
});
